"""The registry of all planners."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.base import Plugin
    from cobalance.generation.planning.plan import ImagePlanner, Planner

PLANNERS: "Plugins[Planner | ImagePlanner, Plugin]" = Plugins(
    "planner",
    {
        "conbias": "cobalance.generation.planning.planners.conbias",
        "minimal": "cobalance.generation.planning.planners.minimal",
        "published": "cobalance.generation.planning.planners.published",
        "whole-images": "cobalance.generation.planning.planners.whole_images",
    },
    "planners",
    calls="(cliques, options)|plan_images(cliques, chosen, options, images)",
)
