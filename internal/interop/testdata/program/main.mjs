// Calls functions of @readysetcloud/agent for the tests. Each line of stdin is {id, op, args}; each is answered by a line on
// file descriptor 3, {id, value} or {id, error: {name, message}}, in whatever order they end. stdout is the package's own.
// The endpoint, the region, credentials and the table come from the environment, as in any program that uses the package.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as agent from '@readysetcloud/agent';
import { z } from 'zod';

const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const bus = new EventBridgeClient({});

// lookup is a tool that our side does not have.
const lookup = agent.tool({
  name: 'lookup',
  description: 'Looks up what a key stands for.',
  inputSchema: z.object({ key: z.string() }),
  callback: ({ key }) => `the value of ${key}`,
});

function assistant(sessionId) {
  return agent.createAssistant({ sessionId, systemPrompt: 'You are the package.', tools: [lookup] });
}

const ops = {
  // Data-plane functions, called as they are: their one argument comes from the test.
  createSession: agent.createSession,
  requestSession: agent.requestSession,
  requestAgentTask: agent.requestAgentTask,
  createTask: agent.createTask,
  startTask: agent.startTask,
  finishTask: agent.finishTask,
  getSessionConfig: ({ sessionId }) => agent.getSessionConfig(sessionId),
  getTask: ({ taskId }) => agent.getTask(taskId),

  deleteSession: ({ sessionId }) => new agent.DynamoSnapshotStorage().deleteSession({ sessionId }),

  // say runs one chat turn in a new agent, which reads the conversation from the table first.
  say: async ({ sessionId, request }) => {
    const a = assistant(sessionId);
    const frames = [];
    const text = await agent.handleUserMessage(a, { request, sessionId, send: async (m) => void frames.push(m) });
    return { text, frames, messages: a.messages };
  },

  // run is one delivery of a task to a host built on the package. builds counts how often it ran the agent.
  run: async ({ taskId, principal, request, sessionId, fail }) => {
    let builds = 0;
    const result = await agent.runAgentTask({
      taskId, principal, request, sessionId,
      buildAgent: async () => {
        builds++;
        if (fail) throw new Error(fail);
        return { agent: assistant(sessionId ?? `package-${taskId}`) };
      },
    });
    return { result, builds };
  },

  // put puts one event on the bus, as an app of the package's kind does.
  put: async ({ source, detailType, detail }) => {
    const out = await bus.send(new PutEventsCommand({ Entries: [{ Source: source, DetailType: detailType, Detail: JSON.stringify(detail) }] }));
    return out.Entries[0].EventId;
  },

  // rows gives what a partition of the table holds.
  rows: async ({ pk }) => {
    const out = await table.send(new QueryCommand({
      TableName: process.env.TABLE_NAME, ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk },
    }));
    return out.Items;
  },
};

function answer(message) {
  writeSync(3, `${JSON.stringify(message)}\n`);
}

async function perform({ id, op, args }) {
  try {
    answer({ id, value: (await ops[op](args)) ?? null });
  } catch (err) {
    answer({ id, error: { name: err?.name ?? 'Error', message: String(err?.message ?? err) } });
  }
}

createInterface({ input: process.stdin }).on('line', (line) => void perform(JSON.parse(line)));
