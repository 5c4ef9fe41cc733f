// flowrun in Visual Studio Code, written by flowrun init --editor vscode. It needs no build and no package: it starts flowrun lsp and
// hands the editor's questions on.
"use strict";
const vscode = require("vscode");
const { spawn } = require("child_process");

const documents = { language: "flowrun", scheme: "file" };
let server, nextId = 1;
const waiting = new Map();

function send(message) {
  if (!server) return;
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  server.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
  server.stdin.write(body);
}

function ask(method, params) {
  const id = nextId++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send({ id, method, params });
  });
}

function receive(handle) {
  let input = Buffer.alloc(0);
  return (chunk) => {
    input = Buffer.concat([input, chunk]);
    for (;;) {
      const head = input.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(input.toString("utf8", 0, head))[1]);
      if (input.length < head + 4 + length) return;
      const body = input.toString("utf8", head + 4, head + 4 + length);
      input = input.subarray(head + 4 + length);
      handle(JSON.parse(body));
    }
  };
}

const at = (p) => ({ line: p.line, character: p.character });
const range = (r) => new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
const named = (d) => ({ textDocument: { uri: d.uri.toString() } });
const place = (d, p) => ({ ...named(d), position: at(p) });
const edits = (list) => (list || []).map((e) => new vscode.TextEdit(range(e.range), e.newText));
const location = (l) => new vscode.Location(vscode.Uri.parse(l.uri), range(l.range));

function workspaceEdit(changes) {
  const out = new vscode.WorkspaceEdit();
  for (const [uri, list] of Object.entries(changes)) out.set(vscode.Uri.parse(uri), edits(list));
  return out;
}

function symbol(s) {
  const out = new vscode.DocumentSymbol(s.name, s.detail || "", s.kind - 1, range(s.range), range(s.selectionRange));
  out.children = (s.children || []).map(symbol);
  return out;
}

function inTerminal(...words) {
  const terminal = vscode.window.createTerminal({ name: "flowrun", shellPath: program(), shellArgs: words });
  terminal.show();
}

const program = () => vscode.workspace.getConfiguration("flowrun").get("path");

exports.activate = async (context) => {
  const found = vscode.languages.createDiagnosticCollection("flowrun");
  server = spawn(program(), ["lsp"]);
  server.on("error", (e) => vscode.window.showErrorMessage(`flowrun lsp does not start: ${e.message}`));
  server.on("exit", () => { server = undefined; waiting.forEach((w) => w.reject(new Error("flowrun lsp has ended"))); waiting.clear(); });
  server.stdout.on("data", receive((m) => {
    if (m.id !== undefined && waiting.has(m.id)) {
      const w = waiting.get(m.id);
      waiting.delete(m.id);
      m.error ? w.reject(new Error(m.error.message)) : w.resolve(m.result);
    } else if (m.method === "textDocument/publishDiagnostics") {
      found.set(vscode.Uri.parse(m.params.uri), m.params.diagnostics.map((d) => {
        const out = new vscode.Diagnostic(range(d.range), d.message, d.severity - 1);
        out.source = d.source;
        out.code = { value: d.code, target: vscode.Uri.parse(d.codeDescription.href) };
        out.relatedInformation = (d.relatedInformation || []).map((r) => new vscode.DiagnosticRelatedInformation(location(r.location), r.message));
        return out;
      }));
    }
  }));
  await ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  send({ method: "initialized", params: {} });

  const ours = (d) => d.languageId === "flowrun" && d.uri.scheme === "file";
  const open = (d) => ours(d) && send({ method: "textDocument/didOpen", params: { textDocument: { uri: d.uri.toString(), languageId: "hcl", version: d.version, text: d.getText() } } });
  vscode.workspace.textDocuments.forEach(open);
  const l = vscode.languages, w = vscode.workspace;
  context.subscriptions.push(found, { dispose: () => exports.deactivate() },
    w.onDidOpenTextDocument(open),
    w.onDidChangeTextDocument((e) => ours(e.document) && send({ method: "textDocument/didChange", params: { textDocument: { uri: e.document.uri.toString(), version: e.document.version }, contentChanges: [{ text: e.document.getText() }] } })),
    w.onDidSaveTextDocument((d) => ours(d) && send({ method: "textDocument/didSave", params: named(d) })),
    w.onDidCloseTextDocument((d) => ours(d) && send({ method: "textDocument/didClose", params: named(d) })),
    l.registerDocumentFormattingEditProvider(documents, { provideDocumentFormattingEdits: async (d) => edits(await ask("textDocument/formatting", { ...named(d), options: {} })) }),
    l.registerDocumentSymbolProvider(documents, { provideDocumentSymbols: async (d) => (await ask("textDocument/documentSymbol", named(d))).map(symbol) }),
    l.registerHoverProvider(documents, { provideHover: async (d, p) => { const h = await ask("textDocument/hover", place(d, p)); return h && new vscode.Hover(new vscode.MarkdownString(h.contents.value), range(h.range)); } }),
    l.registerDefinitionProvider(documents, { provideDefinition: async (d, p) => { const r = await ask("textDocument/definition", place(d, p)); return r && location(r); } }),
    l.registerReferenceProvider(documents, { provideReferences: async (d, p, c) => (await ask("textDocument/references", { ...place(d, p), context: c })).map(location) }),
    l.registerRenameProvider(documents, {
      prepareRename: async (d, p) => { const r = await ask("textDocument/prepareRename", place(d, p)); return { range: range(r.range), placeholder: r.placeholder }; },
      provideRenameEdits: async (d, p, newName) => workspaceEdit((await ask("textDocument/rename", { ...place(d, p), newName })).changes),
    }),
    l.registerCompletionItemProvider(documents, { provideCompletionItems: async (d, p) => (await ask("textDocument/completion", place(d, p))).items.map((i) => {
      const out = new vscode.CompletionItem(i.label, i.kind - 1);
      out.detail = i.detail; out.documentation = i.documentation; out.range = range(i.textEdit.range); out.insertText = i.textEdit.newText;
      return out;
    }) }, ".", "\""),
    l.registerCodeActionsProvider(documents, { provideCodeActions: async (d, r) => (await ask("textDocument/codeAction", { ...named(d), range: { start: at(r.start), end: at(r.end) }, context: { diagnostics: [] } })).map((a) => {
      const out = new vscode.CodeAction(a.title, vscode.CodeActionKind.QuickFix);
      out.edit = workspaceEdit(a.edit.changes); out.isPreferred = true;
      return out;
    }) }),
    l.registerCodeLensProvider(documents, { provideCodeLenses: async (d) => (await ask("textDocument/codeLens", named(d))).map((x) => new vscode.CodeLens(range(x.range), x.command)) }),
    vscode.commands.registerCommand("flowrun.run", (path, workflow) => inTerminal("apply", path, workflow)),
    vscode.commands.registerCommand("flowrun.test", (path, name, pattern) => inTerminal("test", path, "--run", pattern)),
    vscode.commands.registerCommand("flowrun.show", () => inTerminal("runs", "list")));
};

exports.deactivate = async () => {
  if (!server) return;
  await ask("shutdown", null).catch(() => {});
  send({ method: "exit" });
};
