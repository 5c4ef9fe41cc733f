// An agent on the official TypeScript SDK of the Agent Client Protocol: it tells of an edit, asks for leave, and answers; or waits until
// it is cancelled. With the word load or resume it keeps its sessions in files of its folder, and goes on in them.
import * as acp from '@agentclientprotocol/sdk';
import { Readable, Writable } from 'node:stream';
import fs from 'node:fs';

let cancelled = () => {};
let servers = [];
const how = process.argv[2];
const can = { load: { loadSession: true }, resume: { sessionCapabilities: { resume: {} } } }[how] ?? {};
const known = ({ params }) => {
  if (!fs.existsSync(params.sessionId + '.session')) throw acp.RequestError.resourceNotFound(params.sessionId);
  return {};
};
acp.agent({ name: 'peer' })
  .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: { mcpCapabilities: { http: true }, ...can } }))
  .onRequest('session/new', ({ params }) => {
    servers = params.mcpServers;
    return { sessionId: 's1' };
  })
  .onRequest('session/load', known)
  .onRequest('session/resume', known)
  .onNotification('session/cancel', () => cancelled())
  .onRequest('session/prompt', async ({ params, client }) => {
    const say = (text) => client.notify('session/update', { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } });
    const text = params.prompt[0].text;
    if (text.includes('twice')) {
      const file = params.sessionId + '.session';
      if (fs.existsSync(file)) {
        await say(`went on after ${fs.readFileSync(file)}`);
        return { stopReason: 'end_turn' };
      }
      fs.writeFileSync(file, 'half');
      if (text.includes('crash')) process.exit(7);
      await new Promise(() => setInterval(() => {}, 1000));
    }
    if (text.startsWith('wait')) {
      await say('half');
      await new Promise((done) => { cancelled = done; });
      process.stderr.write('told to stop\n');
      return { stopReason: 'cancelled' };
    }
    if (text.startsWith('refuse')) {
      await say('I would rather not.');
      return { stopReason: 'refusal' };
    }
    if (text.startsWith('servers')) {
      await say(servers.map((s) => `${s.name} ${s.url ?? s.args.join(' ')} ${(s.env ?? s.headers)[0].name}`).join(', '));
      return { stopReason: 'end_turn' };
    }
    if (text.startsWith('crash')) process.exit(7);
    await client.notify('session/update', { sessionId: 's1', update: { sessionUpdate: 'tool_call', toolCallId: 't1', title: 'Edit a.txt', kind: 'edit', status: 'pending', locations: [{ path: process.cwd() + '/a.txt' }] } });
    const leave = await client.request('session/request_permission', { sessionId: 's1', toolCall: { toolCallId: 't1' },
      options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' }] });
    const read = await client.request('fs/read_text_file', { sessionId: 's1', path: process.cwd() + '/in.txt' });
    await say(`leave: ${leave.outcome.optionId}, read: ${read.content.trim()}`);
    return { stopReason: 'end_turn' };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
