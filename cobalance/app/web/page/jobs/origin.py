"""Details of a candidate: request, generation and decision."""

import json
from typing import Any

import streamlit as st

from cobalance.app.web.page.jobs.job_cards import by_whom, describe_request, describe_scores
from cobalance.app.web.page.jobs.progress import time_text
from cobalance.app.web.state import session
from cobalance.app.web.widgets import download, escape
from cobalance.generation import FilterWords
from cobalance.graph import Candidate, GraphStore, Job, read_provenance

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
    settings_texts = [
        f"{name.replace('_', ' ')} {settings[name]}"
        for name in _SETTINGS
        if settings.get(name) is not None
    ]

    verdict = "being compared"
    if candidate.verdict != "pending":
        decided_at = candidate.decided_at if candidate.decided_by is not None else None
        verdict = f"{candidate.verdict} {by_whom(candidate)} {time_text(decided_at, '')}".strip()
    seconds = "" if candidate.seconds is None else f", in {candidate.seconds:.3g} s"

    facts = {
        "Asked for": describe_request(candidate.class_name, candidate.concepts),
        "Verdict": verdict,
        "Filters": " · ".join(describe_scores(candidate, words)),
        "Reason": candidate.reason,
        "Recipe": job.settings.get("recipe"),
        "Backend": provenance.get("backend"),
        "Model": " at ".join(filter(None, map(provenance.get, ("model", "revision")))),
        "Prompt": provenance.get("prompt"),
        "Seed": candidate.seed,
        "Settings": ", ".join(settings_texts),
        "Source image": candidate.source_image,
        "Made": time_text(candidate.created_at, "") + seconds,
        "File": candidate.uri or "not kept",
    }
    return {name: str(value) for name, value in facts.items() if value not in (None, "")}


def provenance_of(store: GraphStore, candidate: Candidate) -> dict[str, Any]:
    """Provenance of a candidate: the most wanted fields first, unknown ones left out."""
    facts: dict[str, Any] = {
        "candidate": candidate.id,
        "class": candidate.class_name,
        "concepts": list(candidate.concepts),
        "seed": candidate.seed,
        "source_image": candidate.source_image,
        "seconds": candidate.seconds,
        "created_at": candidate.created_at and candidate.created_at.isoformat(timespec="seconds"),
        "file": candidate.uri,
    }
    facts = read_provenance(store, candidate.id) | facts

    others = [name for name in facts if name not in _FIRST and name not in _LAST]
    names = [*_FIRST, *others, *_LAST]
    return {name: facts[name] for name in names if facts.get(name) is not None}
