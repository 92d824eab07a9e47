import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { openHouse } from '../packages/server/src/test/house.ts';
import { Metrics } from '../packages/worker/src/metrics.ts';

/** The rules and the dashboard of deploy/monitoring, and the autoscaling of workers, name metrics that the server and the worker export. */
const root = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const Rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const Dashboard = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).optional() })),
});
const rules = Rules.parse(parse(read('deploy/monitoring/alerts.yaml'))).groups.flatMap((group) => group.rules);
const { panels } = Dashboard.parse(JSON.parse(read('deploy/monitoring/dashboard.json')));
const ScaledObject = z.object({
  kind: z.literal('ScaledObject'),
  spec: z.object({ triggers: z.array(z.object({ metadata: z.object({ query: z.string() }) })) }),
});
const triggers = parseAllDocuments(read('deploy/kubernetes/worker.yaml')).flatMap(
  (document) => ScaledObject.safeParse(document.toJS()).data?.spec.triggers ?? [],
);
const expressions = [
  ...triggers.map(({ metadata }) => ['autoscaling', metadata.query] as const),
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** Prometheus itself adds them to what it scrapes. */
const OF_PROMETHEUS = { metrics: ['up'], labels: ['job', 'instance'] };

/** The metrics and labels of an expression. */
function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  // Grafana replaces its variables before Prometheus gets the query.
  const query = expression.replaceAll('$__rate_interval', '5m');
  const found = { metrics: new Set<string>(), labels: new Set<string>() };
  parser.parse(query).iterate({
    enter({ name, from, to, node }) {
      if (name === '⚠') throw new Error(`not valid at ${from}: ${expression}`);
      const text = query.slice(from, to);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') found.metrics.add(text);
      if (name === 'LabelName') found.labels.add(text);
    },
  });
  return { metrics: [...found.metrics], labels: [...found.labels] };
}

/** The labels of each metric that has a value. */
function labelsIn(text: string): Map<string, Set<string>> {
  const labels = new Map<string, Set<string>>();
  for (const [, metric = '', list = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const known = labels.get(metric) ?? new Set();
    for (const [, label = ''] of list.matchAll(/(\w+)="/g)) known.add(label);
    labels.set(metric, known);
  }
  return labels;
}

test('every metric and label of the alert rules and of the dashboard exists', async () => {
  await using house = await openHouse('postgres');
  const { client } = house.people.owner;
  await client.comments.create({ params: { id: house.projectId }, body: { content: 'Good.' } });
  await house.request(null, 'GET', '/api/ping');
  const scraped = await (await house.request(null, 'GET', '/metrics')).text();
  const worker = new Metrics();
  worker.countStep('veo', 'submit', 'SUCCEEDED', 1);
  worker.countRefusal('veo', 'AUTH');
  worker.countWebhook('FAILED');
  await worker.during('veo', async () => {});
  const exported = labelsIn(`${scraped}\n${await worker.registry.metrics()}`);

  const faults = expressions.flatMap(([title, expression]) => {
    const { metrics, labels } = namesIn(expression);
    const used = metrics.filter((metric) => !OF_PROMETHEUS.metrics.includes(metric));
    const known = [...OF_PROMETHEUS.labels, 'le', ...used.flatMap((metric) => [...(exported.get(metric) ?? [])])];
    return [
      ...used.filter((metric) => !exported.has(metric)).map((metric) => `${title}: no metric ${metric}`),
      ...labels.filter((label) => !known.includes(label)).map((label) => `${title}: no label ${label}`),
    ];
  });
  expect(faults).toEqual([]);
  expect(triggers).toHaveLength(1);
  expect(expressions.length).toBeGreaterThan(40);
});

test('the guide says what to do on every alert', () => {
  const guide = read('docs/self-hosting.md');
  expect(rules.map(({ alert }) => alert).filter((alert) => !guide.includes(`\`${alert}\``))).toEqual([]);
});
