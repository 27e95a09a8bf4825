from . import audits as audits, panel as panel, studies as studies
