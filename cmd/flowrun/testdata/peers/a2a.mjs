// An agent on the official JavaScript SDK of the Agent2Agent protocol. It prints its address. With the word stream its card names streams.
// PUBLIC is the address that the card names, and STORE the file of its tasks: tasks that it finds there at work end then.
import express from 'express';
import fs from 'node:fs';
import { DefaultRequestHandler, AgentEvent } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';

const part = (text) => ({ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' });
const WORKING = 2, COMPLETED = 3, FAILED = 4, CANCELED = 5;
const stop = new Map();
const artifact = (text) => ({ artifactId: 'a', name: 'answer', description: '', parts: [part(text)], metadata: undefined, extensions: [] });
const tasks = new Map();
if (process.env.STORE && fs.existsSync(process.env.STORE)) {
  for (const t of JSON.parse(fs.readFileSync(process.env.STORE, 'utf8'))) {
    if (t.status.state === WORKING) {
      t.status.state = COMPLETED;
      t.artifacts = [artifact('went on')];
    }
    tasks.set(t.id, t);
  }
}
const store = {
  async load(id) { return tasks.get(id); },
  async save(task) {
    tasks.set(task.id, task);
    if (process.env.STORE) fs.writeFileSync(process.env.STORE, JSON.stringify([...tasks.values()]));
  },
};
const executor = {
  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    const text = userMessage.parts[0].content.value;
    const message = (t) => ({ messageId: crypto.randomUUID(), taskId, contextId, role: 2, parts: [part(t)], metadata: undefined, extensions: [], referenceTaskIds: [] });
    const status = (state, t) => AgentEvent.statusUpdate({ taskId, contextId, status: { state, message: message(t), timestamp: undefined }, metadata: undefined });
    process.stderr.write('executed\n');
    bus.publish(AgentEvent.task({ id: taskId, contextId, status: { state: WORKING, message: message('begun'), timestamp: undefined }, artifacts: [], history: [], metadata: undefined }));
    if (text.startsWith('wait')) {
      await new Promise((done) => stop.set(taskId, done));
      process.stderr.write('told to stop\n');
      bus.publish(status(CANCELED, 'stopped'));
    } else if (text.startsWith('slow')) {
      await new Promise((done) => setTimeout(done, 2500));
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact: artifact('slow and once'), append: false, lastChunk: true, metadata: undefined }));
      bus.publish(status(COMPLETED, 'done'));
    } else if (text.startsWith('fail')) {
      bus.publish(status(FAILED, 'no luck'));
    } else {
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact: artifact(`did: ${text}`), append: false, lastChunk: true, metadata: undefined }));
      bus.publish(status(COMPLETED, 'done'));
    }
    bus.finished();
  },
  async cancelTask(taskId, bus) { stop.get(taskId)?.(); },
};
const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const at = `http://127.0.0.1:${server.address().port}`;
  const named = process.env.PUBLIC ?? at;
  const card = { name: 'peer', description: 'a peer', version: '1', supportedInterfaces: [{ url: named + '/rpc', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }], provider: undefined,
    capabilities: { streaming: process.argv[2] === 'stream', pushNotifications: false, extensions: [] }, securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [], signatures: [] };
  const handler = new DefaultRequestHandler(card, store, executor);
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: handler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }));
  console.log(at);
});
