import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import { countAt, fieldAt, kindKey, numberAt, withField } from '@skerry/fleet-kinds'

interface ReplicaRule {
  readonly count: (object: AnyObject) => number
  /** The path of the count. If omitted, the kind always has the same number. */
  readonly path?: readonly string[]
  /** The path of the pod's spec. */
  readonly podSpec: readonly string[]
}

const workload: ReplicaRule = Object.freeze({
  count: (object: AnyObject) => countAt(object, 'spec', 'replicas'),
  path: ['spec', 'replicas'],
  podSpec: ['spec', 'template', 'spec'],
})

const rules: Readonly<Record<string, ReplicaRule>> = Object.freeze({
  'apps/v1 Deployment': workload,
  'apps/v1 ReplicaSet': workload,
  'apps/v1 StatefulSet': workload,
  'batch/v1 Job': {
    ...workload,
    count: parallelPods,
    path: ['spec', 'parallelism'],
  },
  'v1 Pod': { count: () => 1, podSpec: ['spec'] },
})

/** Returns how many pods an object requests, with their spec; undefined for a kind without pods. */
export function replicasOf(
  object: AnyObject,
): { replicas: number; podSpec: JsonObject } | undefined {
  const rule = rules[kindKey(object)]
  if (rule === undefined) return undefined
  const podSpec = fieldAt(object, ...rule.podSpec)
  return { replicas: rule.count(object), podSpec: isJsonObject(podSpec) ? podSpec : {} }
}

/** Reports whether the count of this kind can change. */
export function canReviseReplicas(object: AnyObject): boolean {
  return rules[kindKey(object)]?.path !== undefined
}

/** Returns the object with another count. An object without a count, or of another kind, stays as it is. */
export function withReplicas(object: AnyObject, replicas: number): AnyObject {
  const path = rules[kindKey(object)]?.path
  if (path === undefined || numberAt(object, ...path) === undefined) return object
  return withField(object, path, replicas)
}

/** Returns the parallelism, at most the number of completions. */
function parallelPods(job: AnyObject): number {
  const parallelism = countAt(job, 'spec', 'parallelism')
  return Math.min(parallelism, numberAt(job, 'spec', 'completions') ?? parallelism)
}
