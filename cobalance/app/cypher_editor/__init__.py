"""An editor for Cypher, as a Streamlit component."""
