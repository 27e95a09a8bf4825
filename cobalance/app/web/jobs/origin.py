"""Details of a candidate: request, generation and decision."""

import json
from datetime import datetime
from typing import Any

import streamlit as st

from cobalance.app.web.jobs.job_cards import by_whom, describe_request, describe_scores
from cobalance.app.web.state import session
from cobalance.app.web.widgets.controls import download
from cobalance.app.web.widgets.theme import escape
from cobalance.generation.jobs.filter_words import FilterWords
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.candidate_pages import Candidate, read_provenance
from cobalance.graph.jobs.status import Job

_FIRST = ("problem", "prompt", "seed", "backend", "model", "revision", "weights_sha256")
_LAST = ("chunk", "settings", "software")
_SETTINGS = ("steps", "guidance_scale", "strength")  # of what backends are told, the telling ones


def draw_details(job: Job, candidate: Candidate, words: FilterWords) -> None:
    """Draw the details of a candidate, with its provenance to download."""
    provenance = provenance_of(session.store(), candidate)
    facts = facts_of(job, candidate, provenance, words)
    st.table(
        {name: escape(value) for name, value in facts.items()},
        border="horizontal",
        hide_header=True,
        alt="What is known of the candidate",
    )
    # As text: a browser's own numbers would round the seed.
    content = json.dumps(provenance, indent=2, ensure_ascii=False)
    name = candidate.id.replace("/", "-")
    download(
        "Download all as JSON", content.encode, f"candidate-{name}.json", key="_candidate_json"
    )


def facts_of(
    job: Job, candidate: Candidate, provenance: dict[str, Any], words: FilterWords
) -> dict[str, str]:
    """Details of a candidate by their titles, without unknown ones."""
    settings = provenance.get("settings") or {}
    told = [
        f"{name.replace('_', ' ')} {settings[name]}"
        for name in _SETTINGS
        if settings.get(name) is not None
    ]
    decided = candidate.decided_at if candidate.decided_by is not None else None
    verdict = [candidate.verdict, by_whom(candidate)] if candidate.verdict != "pending" else []
    seconds = "" if candidate.seconds is None else f", in {candidate.seconds:.3g} s"
    facts = {
        "Asked for": describe_request(candidate.class_name, candidate.concepts),
        "Verdict": " ".join([*verdict, _time(decided)]).strip() or "being compared",
        "Filters": " · ".join(describe_scores(candidate, words)),
        "Reason": candidate.reason,
        "Recipe": job.settings.get("recipe"),
        "Backend": provenance.get("backend"),
        "Model": " at ".join(filter(None, map(provenance.get, ("model", "revision")))),
        "Prompt": provenance.get("prompt"),
        "Seed": candidate.seed,
        "Settings": ", ".join(told),
        "Source image": candidate.source_image,
        "Made": _time(candidate.created_at) + seconds,
        "File": candidate.uri or "not kept",
    }
    return {name: str(value) for name, value in facts.items() if value not in (None, "")}


def provenance_of(store: GraphStore, candidate: Candidate) -> dict[str, Any]:
    """Provenance of a candidate: the most wanted fields first, unknown ones left out."""
    known: dict[str, Any] = {
        "candidate": candidate.id,
        "class": candidate.class_name,
        "concepts": list(candidate.concepts),
        "seed": candidate.seed,
        "source_image": candidate.source_image,
        "seconds": candidate.seconds,
        "created_at": candidate.created_at and candidate.created_at.isoformat(timespec="seconds"),
        "file": candidate.uri,
    }
    made = read_provenance(store, candidate.id)
    found = {name: value for name, value in (made | known).items() if value is not None}
    names = [*_FIRST, *(name for name in found if name not in (*_FIRST, *_LAST)), *_LAST]
    return {name: found[name] for name in names if name in found}


def _time(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%d %b %Y %H:%M} UTC"
