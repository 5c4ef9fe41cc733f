// An agent on the official JavaScript SDK of the Agent2Agent protocol. It prints its address. With the word stream its card names streams.
import express from 'express';
import { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';

const part = (text) => ({ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' });
const WORKING = 2, COMPLETED = 3, FAILED = 4, CANCELED = 5;
const stop = new Map();
const executor = {
  async execute(context, bus) {
    const { taskId, contextId, userMessage } = context;
    const text = userMessage.parts[0].content.value;
    const message = (t) => ({ messageId: crypto.randomUUID(), taskId, contextId, role: 2, parts: [part(t)], metadata: undefined, extensions: [], referenceTaskIds: [] });
    const status = (state, t) => AgentEvent.statusUpdate({ taskId, contextId, status: { state, message: message(t), timestamp: undefined }, metadata: undefined });
    bus.publish(AgentEvent.task({ id: taskId, contextId, status: { state: WORKING, message: message('begun'), timestamp: undefined }, artifacts: [], history: [], metadata: undefined }));
    if (text.startsWith('wait')) {
      await new Promise((done) => stop.set(taskId, done));
      process.stderr.write('told to stop\n');
      bus.publish(status(CANCELED, 'stopped'));
    } else if (text.startsWith('fail')) {
      bus.publish(status(FAILED, 'no luck'));
    } else {
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact: { artifactId: 'a', name: 'answer', description: '', parts: [part(`did: ${text}`)], metadata: undefined, extensions: [] }, append: false, lastChunk: true, metadata: undefined }));
      bus.publish(status(COMPLETED, 'done'));
    }
    bus.finished();
  },
  async cancelTask(taskId, bus) { stop.get(taskId)?.(); },
};
const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const at = `http://127.0.0.1:${server.address().port}`;
  const card = { name: 'peer', description: 'a peer', version: '1', supportedInterfaces: [{ url: at + '/rpc', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }], provider: undefined,
    capabilities: { streaming: process.argv[2] === 'stream', pushNotifications: false, extensions: [] }, securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [], signatures: [] };
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: handler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }));
  console.log(at);
});
