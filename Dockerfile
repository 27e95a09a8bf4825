# The cobalance command line and web app; docker-compose.yml gives them a database.
FROM python:3.12-slim

WORKDIR /opt/cobalance
COPY requirements/app.txt requirements/app.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/app.txt
COPY pyproject.toml README.md LICENSE ./
COPY graph graph
COPY ingest ingest
COPY generation generation
COPY app app
RUN pip install --no-cache-dir --no-deps .

RUN useradd --create-home cobalance
USER cobalance
WORKDIR /data
ENTRYPOINT ["cobalance"]
