"""Evaluations: effects of rebalancing on the models trained on the result."""

from cobalance.graph.database import Parameter
from cobalance.graph.queries.catalogue.parameters import dataset_query

# Each evaluation beside the one it is compared with, of each seed the newest. Settings are named as
# `graph.evaluations.reading.name_settings` does it, those before where a row has several of them.
# An interval of the difference follows from those of its terms by MOVER (G. Zou and A. Donner,
# Construction of confidence limits about effect measures, Statistics in Medicine 27, 2008), which
# for two proportions with Wilson's intervals is method 10 of R. Newcombe, Interval estimation for
# the difference between independent proportions, Statistics in Medicine 17, 1998. Over seeds,
# values and limits are averaged, as if all seeds erred together; that both models are tested on the
# same images is not made use of. Both make it rather too wide.
_DIFFERENCES = """
WHERE b.scored_at IS NOT NULL AND b.test = e.test AND b.test_digest = e.test_digest
  AND coalesce(b.seed = e.seed, b.seed IS NULL AND e.seed IS NULL)
OPTIONAL MATCH (d:Dataset {name: e.train})
OPTIONAL MATCH (o:Dataset {name: b.train})
OPTIONAL MATCH (x:Dataset {name: e.test})
WITH j, e, b, NOT coalesce(d.digest = e.train_digest AND o.digest = b.train_digest
  AND x.digest = e.test_digest, false) AS outdated
ORDER BY b.training_set, e.created_at DESC, b.created_at DESC
WITH j, outdated, e.train AS training_set, e.training_set AS images, e.test AS test,
  e.method AS method, e.settings_list AS listed, e.seed AS seed,
  b.settings_list AS before, head(collect([e, b])) AS pair
WITH j, outdated, training_set, images, test, method, listed, collect(DISTINCT before) AS befores,
  collect([before, pair]) AS pairs
WITH collect({j: j, outdated: outdated, training_set: training_set, images: images, test: test,
  method: method, listed: listed, befores: befores, pairs: pairs}) AS rows
UNWIND rows AS row
WITH row, [head(row.listed)] + [item IN tail(row.listed) WHERE any(other IN rows
  WHERE head(other.listed) = head(row.listed) AND NOT item IN other.listed
    AND (other.method = row.method OR NOT item STARTS WITH row.method + ' '))] AS named
UNWIND row.pairs AS pair
WITH row, pair[1][0] AS e, pair[1][1] AS b, named + [item IN pair[0]
  WHERE any(other IN row.befores WHERE NOT item IN other) | 'before: ' + item] AS named
WITH row, e, b, reduce(text = '', item IN named | text
  + CASE WHEN text = '' OR item = '' THEN '' ELSE ', ' END + item) AS settings
MATCH (t:Score {evaluation: b.id}) WHERE $metric IS NULL OR t.metric = $metric
MATCH (s:Score {evaluation: e.id}) WHERE s.metric = t.metric AND s.group = t.group
WITH row.j AS j, row.training_set AS training_set, row.images AS images, row.test AS test,
  row.method AS method, settings, t.metric AS metric, t.group AS group, row.outdated AS outdated,
  count(DISTINCT e.seed) AS seeds,
  avg(t.value) AS before, avg(t.low) AS before_low, avg(t.high) AS before_high,
  avg(s.value) AS after, avg(s.low) AS after_low, avg(s.high) AS after_high
OPTIONAL MATCH (p:Plan {dataset: j.dataset, name: j.plan})
RETURN training_set, images, test, j.id AS job, coalesce(p.planner, j.plan) AS planner,
  j.backend AS backend, method, settings, seeds, metric, group, before, after,
  after - before AS difference,
  [after - before - sqrt((after - after_low) ^ 2 + (before_high - before) ^ 2),
   after - before + sqrt((after_high - after) ^ 2 + (before - before_low) ^ 2)] AS interval,
  outdated
ORDER BY training_set, images, test, job, method, settings, metric, group, outdated LIMIT $limit"""
_COLUMNS = (
    "training_set images test job planner backend method settings seeds metric group before after "
    "difference interval outdated"
)

# On a job's result, and on the job's own dataset with the same method.
_WHAT_HELPED = f"""
CALL () {{
  MATCH (j:Job {{dataset: $dataset}})<-[:OF]-(e:Evaluation) RETURN j, e
  UNION MATCH (e:Evaluation {{train: $dataset}})-[:OF]->(j:Job) RETURN j, e
}}
WITH j, e WHERE e.scored_at IS NOT NULL AND e.training_set <> 'real'
MATCH (b:Evaluation {{train: j.dataset, method: e.method}})
WHERE b.training_set IN ['real', 'augmented']
  AND b.same_method = e.same_method
WITH j, e, b{_DIFFERENCES}"""

# With a method, and by ERM on the same images.
_REMEDIES = f"""
CALL () {{
  MATCH (e:Evaluation {{train: $dataset}}) RETURN e
  UNION MATCH (:Job {{dataset: $dataset}})<-[:OF]-(e:Evaluation) RETURN e
}}
WITH e WHERE e.scored_at IS NOT NULL AND e.method <> 'erm'
MATCH (b:Evaluation {{train: e.train, method: 'erm', training_set: e.training_set}})
WHERE b.other_methods = e.other_methods
  AND coalesce(b.most_synthetic, -1) = coalesce(e.most_synthetic, -1)
OPTIONAL MATCH (e)-[:OF]->(j:Job)
WITH j, e, b{_DIFFERENCES}"""
_PARAMETERS = {
    "metric": Parameter("only this metric"),
    "limit": Parameter("the most rows to return", int, 1000),
}

QUERIES = (
    dataset_query(
        "what-helped",
        "What training on a job's result changed: scores of models trained on the job's dataset "
        "before and after, with the same method, seeds, settings and test images, as means over "
        "seeds, with an interval of the difference by Newcombe's method (MOVER).",
        _COLUMNS,
        _WHAT_HELPED,
        parameters=_PARAMETERS,
    ),
    dataset_query(
        "remedies",
        "What each training method, such as upweight or cutmix, changed: scores of models trained "
        "with ERM (before) and with the method (after) on the same training set, with the same "
        "seeds, learner and test images; as `what-helped`, and without a job on a dataset as it "
        "was loaded.",
        _COLUMNS,
        _REMEDIES,
        parameters=_PARAMETERS,
    ),
)
