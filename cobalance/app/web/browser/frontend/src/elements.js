/** Keeps Cytoscape's elements equal to the picture, changing only what differs. */

/** Cytoscape's id of a node: ours may be empty, or anything else. */
const nodeKey = (id) => `n${id}`;

const pairOf = (one, other) => JSON.stringify(one < other ? [one, other] : [other, one]);
const GHOST = "g";

export class Elements {
  /** @param {import("cytoscape").Core} cy */
  constructor(cy) {
    this.cy = cy;
    this.signature = "";
    this.cliqueSignature = "";
    /** @type {Map<string, object>} the picture's nodes by our ids, in its order */
    this.nodes = new Map();
    /** @type {object[]} */
    this.edges = [];
    /** @type {{nodes: any[][], edges: any[][]}[]} the elements' numbers and texts at each step */
    this.steps = [];
  }

  /** Our id of a Cytoscape node. */
  static idOf(node) {
    return node.id().slice(1);
  }

  get(id) {
    return this.cy.getElementById(nodeKey(id));
  }

  /**
   * Take over a picture.
   * @returns {{changed: boolean, related: boolean}} whether anything differs, and whether any
   *     node of before is still there
   */
  draw({ nodes, edges, steps, axis, sizes }) {
    const signature = JSON.stringify([nodes, edges, steps, axis, sizes]);
    if (signature === this.signature) return { changed: false, related: true };
    this.signature = signature;
    this.cliqueSignature = "";
    const before = this.nodes;
    const room = (i) => Math.max(...steps.map((step) => step.nodes[i][1]));
    if (steps.length) nodes = nodes.map((node, i) => ({ ...node, room: room(i) }));
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    this.edges = edges;
    this.steps = steps;
    this.edgeKeys = [];
    const wanted = new Map();
    nodes.forEach((node) => wanted.set(nodeKey(node.id), { group: "nodes", raw: node }));
    const repeats = new Map();
    for (const edge of edges) {
      const pair = pairOf(edge.source, edge.target);
      const repeat = repeats.get(pair) ?? 0;
      repeats.set(pair, repeat + 1);
      this.edgeKeys.push(`e${repeat}${pair}`);
      wanted.set(`e${repeat}${pair}`, { group: "edges", raw: edge, pair, repeat });
    }
    this.cy.batch(() => {
      this.cy.elements().filter((element) => !wanted.has(element.id())).remove();
      const created = [];
      for (const [id, { group, raw, ...more }] of wanted) {
        const existing = this.cy.getElementById(id);
        if (existing.nonempty()) existing.data({ raw, ...more });
        else created.push(definition(id, group, raw, more));
      }
      this.cy.add(created);
      this.cy.nodes().forEach((node) => node.toggleClass("class", node.data("raw").kind === "class"));
    });
    return { changed: true, related: nodes.some(({ id }) => before.has(id)) };
  }

  /**
   * Give every element its numbers at a place between the steps, which must be some: at 1.5 it is
   * halfway from the second to the third. Texts are the nearer step's.
   * @param {number} place
   */
  moveTo(place) {
    const first = Math.floor(place);
    const share = place - first;
    const [from, to] = [this.steps[first], this.steps[Math.ceil(place)]];
    const near = share < 0.5 ? from : to;
    const mix = (one, other) => one + (other - one) * share;
    this.cy.batch(() => {
      [...this.nodes.values()].forEach((node, i) => {
        const [x, size, skew] = [0, 1, 2].map((at) => mix(from.nodes[i][at], to.nodes[i][at]));
        const [description, absent] = near.nodes[i].slice(3);
        const raw = { ...node, x, size, skew, description };
        this.nodes.set(node.id, raw);
        this.get(node.id).data("raw", raw).toggleClass("absent", absent);
      });
      this.edges = this.edges.map((edge, i) => {
        const [width, skew] = [0, 1].map((at) => mix(from.edges[i][at], to.edges[i][at]));
        const raw = { ...edge, width, skew, description: near.edges[i][2] };
        this.cy.getElementById(this.edgeKeys[i]).data("raw", raw);
        return raw;
      });
    });
  }

  /**
   * Mark the cliques' nodes and edges; edges that the picture lacks are drawn while they are
   * marked.
   * @param {string[][]} cliques
   * @returns {boolean} whether anything differs
   */
  mark(cliques) {
    const signature = JSON.stringify(cliques);
    if (signature === this.cliqueSignature) return false;
    this.cliqueSignature = signature;
    const present = cliques.map((clique) => [...new Set(clique)].filter((id) => this.nodes.has(id)));
    const members = new Set(present.flat());
    const pairs = new Map();
    for (const clique of present)
      clique.forEach((one, i) => clique.slice(i + 1).forEach((other) => pairs.set(pairOf(one, other), [one, other])));
    this.cy.batch(() => {
      this.cy.edges(".ghost").filter((edge) => !pairs.has(edge.data("pair"))).remove();
      const drawn = new Set(this.cy.edges().map((edge) => edge.data("pair")));
      for (const [pair, [source, target]] of pairs)
        if (!drawn.has(pair)) this.cy.add(ghost(pair, source, target));
      this.cy.nodes().forEach((node) => node.toggleClass("highlighted", members.has(Elements.idOf(node))));
      this.cy.edges().forEach((edge) => edge.toggleClass("clique", pairs.has(edge.data("pair"))));
    });
    return true;
  }
}

// Every field that the style sheet maps is there from the start: Cytoscape warns of a missing one.
const blank = { text: "", fill: "#888888", font: 12, w: 1, h: 1, halo: 2, rim: 1, ring: 3, arc: 0, repeat: 0 };

function definition(id, group, raw, more) {
  const ends = group === "edges" ? { source: nodeKey(raw.source), target: nodeKey(raw.target) } : {};
  return {
    group,
    data: { ...blank, id, raw, ...more, ...ends },
    selectable: group === "nodes",
    grabbable: false,
    pannable: true,
  };
}

function ghost(pair, source, target) {
  const raw = { source, target, width: 2, skew: 0, description: "" };
  return { ...definition(`${GHOST}${pair}`, "edges", raw, { pair }), classes: "ghost" };
}
