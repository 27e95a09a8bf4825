# The cobalance command line, web app and workers; docker-compose.yml gives them their databases.
# PARTS is app, for all that needs no model, or models, for workers on a GPU.
FROM python:3.12.14-slim-trixie

ARG PARTS=app
WORKDIR /opt/cobalance
COPY requirements requirements
RUN pip install --no-cache-dir --require-hashes -r requirements/${PARTS}.txt -r requirements/build.txt
COPY pyproject.toml README.md LICENSE ./
COPY cobalance cobalance
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

RUN useradd --create-home cobalance
USER cobalance
WORKDIR /data
ENTRYPOINT ["cobalance"]
