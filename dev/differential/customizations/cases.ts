import type { AnyObject } from '@skerry/api'
import type { InterpreterOperation } from '@skerry/interpreter'
import type { CustomizationRule } from '../../../packages/interpreter/custom/customization.ts'
import { luaCorpus } from './lua-corpus.ts'

/** One script, and the question to it. */
export interface CustomizationCase {
  readonly name: string
  readonly operation: Exclude<InterpreterOperation, 'Prune'>
  readonly script: string
  readonly object: AnyObject
  /** The observed object; for Retain only. */
  readonly observed?: AnyObject
  /** The replicas; for ReviseReplica only. */
  readonly replicas?: number
  /** The statuses; for AggregateStatus only. */
  readonly items?: readonly { readonly clusterName: string; readonly status?: object }[]
}

export const ruleOfOperation: Readonly<Record<CustomizationCase['operation'], CustomizationRule>> =
  Object.freeze({
    Retain: 'retention',
    InterpretReplica: 'replicaResource',
    InterpretComponent: 'componentResource',
    ReviseReplica: 'replicaRevision',
    InterpretStatus: 'statusReflection',
    AggregateStatus: 'statusAggregation',
    InterpretHealth: 'healthInterpretation',
    InterpretDependency: 'dependencyInterpretation',
  })

const object: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: 'shop',
    name: 'web',
    generation: 4,
    labels: { city: 'Z\u00fcrich \u2603' },
    annotations: {},
  },
  spec: {
    replicas: 3,
    paused: false,
    nothing: null,
    strategy: {},
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        nodeSelector: { disk: 'ssd' },
        tolerations: [{ key: 'edge', operator: 'Exists' }],
        serviceAccountName: 'runner',
        initContainers: [],
        containers: [
          {
            name: 'web',
            image: 'registry.example.com/web:1.2',
            args: [],
            resources: { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '1' } },
            envFrom: [{ configMapRef: { name: 'settings' } }],
          },
        ],
        volumes: [
          { name: 'tmp', emptyDir: {} },
          { name: 'tls', secret: { secretName: 'tls' } },
        ],
      },
    },
  },
  status: {
    observedGeneration: 4,
    readyReplicas: 2,
    conditions: [{ type: 'Available', status: 'True' }],
  },
}

const observed: AnyObject = {
  ...object,
  spec: {
    ...Object(object['spec']),
    replicas: 9,
    extra: { nested: {}, list: [] },
  },
}

const items = [
  { clusterName: 'a', status: { readyReplicas: 2, phase: 'Running', nodes: ['n1'] } },
  { clusterName: 'b', status: { readyReplicas: 5 } },
  { clusterName: 'c' },
]

type Script = readonly [name: string, script: string]

const health: readonly Script[] = [
  ['by generation', 'return o.status.observedGeneration == o.metadata.generation'],
  [
    'by a condition',
    'for _, c in ipairs(o.status.conditions) do if c.type == "Available" and c.status == "True" then return true end end return false',
  ],
  ['unhealthy', 'return o.status.readyReplicas >= o.spec.replicas'],
  ['no answer', 'return nil'],
  ['a text', 'return "true"'],
  ['a number', 'return 1'],
]

const replicas: readonly Script[] = [
  ['count alone', 'return o.spec.replicas'],
  [
    'with what pods need',
    'local kube = require("kube") return o.spec.replicas, kube.accuratePodRequirements(o.spec.template)',
  ],
  [
    'by hand',
    'return 2, { nodeClaim = { nodeSelector = o.spec.template.spec.nodeSelector, tolerations = o.spec.template.spec.tolerations }, resourceRequest = { cpu = "0.5", memory = "1024Mi" } }',
  ],
  ['a fraction', 'return 2.7'],
  ['a text', 'return "3"'],
  ['nothing', 'return nil'],
  ['numbers as quantities', 'return 1, { resourceRequest = { cpu = 2 } }'],
  [
    'fields that nobody knows',
    'return 1, { unknown = "x", priorityClassName = "high", namespace = "shop" }',
  ],
  ['wrong quantity', 'return 1, { resourceRequest = { cpu = "much" } }'],
  ['requirements that are none', 'return 1, "all"'],
]

const components: readonly Script[] = [
  [
    'two',
    'return { { name = "a", replicas = 1 }, { name = "b", replicas = 2, replicaRequirements = { resourceRequest = { cpu = "1000m" } } } }',
  ],
  ['none', 'return nil'],
  ['empty', 'return {}'],
  ['a text', 'return "x"'],
  ['replicas as a text', 'return { { name = "a", replicas = "1" } }'],
]

const dependencies: readonly Script[] = [
  [
    'named',
    'return { { apiVersion = "v1", kind = "Secret", namespace = o.metadata.namespace, name = "b" }, { apiVersion = "v1", kind = "ConfigMap", namespace = "shop", name = "a" } }',
  ],
  [
    'by labels',
    'return { { apiVersion = "v1", kind = "Secret", namespace = "shop", labelSelector = { matchLabels = { a = "b" } } } }',
  ],
  [
    'of its pods',
    'local kube = require("kube") return kube.getPodDependencies(o.spec.template, o.metadata.namespace)',
  ],
  ['empty', 'return {}'],
  ['without a kind', 'return { { apiVersion = "v1", name = "x" } }'],
  ['without a name', 'return { { apiVersion = "v1", kind = "Secret" } }'],
  ['nothing', 'return nil'],
]

const retentions: readonly Script[] = [
  ['a count', 'd.spec.replicas = o.spec.replicas return d'],
  ['empty fields stay', 'd.spec.extra = o.spec.extra return d'],
  ['a field goes', 'd.spec.template.spec.nodeSelector = nil return d'],
  ['the observed one', 'return o'],
  ['an added empty field', 'd.spec.added = {} return d'],
  ['a text', 'return "d"'],
]

const revisions: readonly Script[] = [
  ['a count', 'o.spec.replicas = n return o'],
  ['a sum', 'o.spec.replicas = n + 1 o.spec.perReplica = { 1, 2 } return o'],
  ['no kind', 'o.kind = nil return o'],
]

const aggregations: readonly Script[] = [
  [
    'a sum',
    'local sum = 0 for i = 1, #items do sum = sum + ((items[i].status or {}).readyReplicas or 0) end o.status = { readyReplicas = sum } return o',
  ],
  [
    'by cluster',
    'o.status = {} for _, item in ipairs(items) do o.status[item.clusterName] = item.status end return o',
  ],
  ['none told', 'if items == nil then return o end o.status.count = #items return o'],
]

const statuses: readonly Script[] = [
  ['some fields', 'return { ready = o.status.readyReplicas, conditions = o.status.conditions }'],
  ['what is not there', 'return { ready = o.status.nothing, all = o.status.conditions[9] }'],
  ['a number', 'return 7'],
  ['nothing', 'return nil'],
]

/** Wraps the body's result under `r`, because a status is an object. */
function corpusCase([name, body]: readonly [string, string]): CustomizationCase {
  const shown = 'function ReflectStatus(o)\nreturn { r = body(o) }\nend\n'
  const script = `function body(o)\n${body}\nend\n${shown}`
  return { name: `Lua: ${name}`, operation: 'InterpretStatus', script, object }
}

function named(
  operation: CustomizationCase['operation'],
  head: string,
  scripts: readonly Script[],
  more: Partial<CustomizationCase> = {},
): CustomizationCase[] {
  return scripts.map(([name, body]) => {
    const script = `function ${head}\n${body}\nend\n`
    return { name: `${operation}: ${name}`, operation, script, object, ...more }
  })
}

export const customizationCases: readonly CustomizationCase[] = [
  ...named('InterpretHealth', 'InterpretHealth(o)', health),
  ...named('InterpretReplica', 'GetReplicas(o)', replicas),
  ...named('InterpretComponent', 'GetComponents(o)', components),
  ...named('InterpretDependency', 'GetDependencies(o)', dependencies),
  ...named('Retain', 'Retain(d, o)', retentions, { observed }),
  ...named('ReviseReplica', 'ReviseReplica(o, n)', revisions, { replicas: 7 }),
  ...named('AggregateStatus', 'AggregateStatus(o, items)', aggregations, { items }),
  ...named('InterpretStatus', 'ReflectStatus(o)', statuses),
  ...Object.entries(luaCorpus).map(corpusCase),
]
