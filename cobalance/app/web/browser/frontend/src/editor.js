/** A field for Cypher: colours, completion, matching brackets, and the server's mistake underlined. */

import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { suggest } from "./cypher_completion.js";
import { cypher } from "./cypher_mode.js";
import css from "./editor.css";
import { element } from "./dom.js";
import { isDark } from "./theme.js";

const HINT = "Ctrl+Space completes · Ctrl+Enter runs · Escape, then Tab leaves";
const colors = HighlightStyle.define([
  { tag: tags.keyword, class: "keyword" },
  { tag: [tags.typeName, tags.className], class: "label" },
  { tag: tags.propertyName, class: "property" },
  { tag: tags.special(tags.variableName), class: "parameter" },
  { tag: tags.function(tags.variableName), class: "function" },
  { tag: tags.string, class: "string" },
  { tag: [tags.number, tags.bool], class: "number" },
  { tag: tags.comment, class: "comment" },
]);

export class CypherEditor {
  /** Labels, types, properties, functions and keywords: set before the first editor is made. */
  static words = null;

  /** @param {ParentNode & Node} parent the component's place in the page */
  constructor(parent) {
    this.request = null;
    this.parameters = [];
    this.label = element("div", { id: "label", className: "label-text" });
    this.place = element("div", { className: "field" });
    this.root = element("div", { className: "cypher-editor" }, [
      element("style", { textContent: css }),
      this.label,
      this.place,
      element("div", { id: "hint", className: "hint", textContent: HINT }),
    ]);
    parent.append(this.root);
    this.view = new EditorView({
      parent: this.place,
      root: this.root.getRootNode(),
      state: EditorState.create({ doc: "", extensions: this.extensions() }),
    });
    this.root.cobalanceEditor = { text: () => this.text(), cursor: () => this.view.state.selection.main.head };
  }

  extensions() {
    const run = () => {
      this.submit();
      return true;
    };
    const leave = (view) => {
      if (completionStatus(view.state)) return false; // Escape closes the list first
      view.setTabFocusMode(true);
      return true;
    };
    const complete = ({ state, pos, explicit }) =>
      suggest(state.doc.toString(), pos, CypherEditor.words, this.parameters, explicit);
    return [
      keymap.of([
        { key: "Mod-Enter", run },
        { key: "Escape", run: leave },
        { key: "Tab", run: acceptCompletion },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      cypher(),
      syntaxHighlighting(colors),
      autocompletion({ override: [complete], icons: false, interactionDelay: 0 }),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-labelledby": "label", "aria-describedby": "hint" }),
      EditorView.domEventHandlers({ focus: (_, view) => view.setTabFocusMode(false) }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        update.view.setTabFocusMode(false);
        if (!update.transactions.some((transaction) => transaction.isUserEvent("page"))) this.report();
      }),
    ];
  }

  /** What Streamlit calls with new data and with a new theme. */
  update({ data, setStateValue }) {
    this.setStateValue = setStateValue;
    this.parameters = data.parameters;
    this.label.textContent = data.label;
    this.root.classList.toggle("dark", isDark(this.root));
    if (data.request !== this.request) {
      this.request = data.request;
      if (data.text !== this.text()) this.replace(data.text);
      this.mark(data);
    } else if (JSON.stringify(data.mistake) !== this.marked) this.mark(data);
    this.root.dataset.ready = "";
  }

  replace(text) {
    this.view.dispatch({
      changes: { from: 0, to: this.view.state.doc.length, insert: text },
      userEvent: "page",
    });
  }

  /** Underline the word at the mistake, unless the text has changed since. */
  mark({ text, mistake }) {
    this.marked = JSON.stringify(mistake);
    const marks = mistake && text === this.text() ? [this.diagnostic(mistake)] : [];
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }

  diagnostic({ offset, message }) {
    const text = this.text();
    const at = [...text].slice(0, offset).join("").length; // Python counts characters
    const length = /^(?:[\p{L}\p{N}_]+|[^])/u.exec(text.slice(at))?.[0].length ?? 0;
    const from = length ? at : Math.max(at - 1, 0);
    return { from, to: Math.min(Math.max(at + length, from + 1), text.length), severity: "error", message };
  }

  text() {
    return this.view.state.doc.toString();
  }

  report() {
    this.setStateValue?.("written", { text: this.text(), request: this.request });
  }

  /** Press the form's button: Streamlit lets no component of a form do so otherwise. */
  submit() {
    this.report();
    const form = this.root.getRootNode().host?.closest("[data-testid=stForm]");
    form?.querySelector("[data-testid=stFormSubmitButton] button")?.click();
  }

  isAttached() {
    return this.root.isConnected;
  }

  destroy() {
    this.view.destroy();
    this.root.remove();
  }
}
