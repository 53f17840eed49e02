import { isJsonObject, type AnyObject } from '@skerry/api'
import { fieldAt, numberAt, objectsAt, textAt } from '@skerry/fleet-kinds'
import type { DependentObject } from '../contract/dependent-object.ts'
import type { InterpretedReplicas } from '../contract/resource-interpreter.ts'
import { dependenciesOf } from '../native/dependencies.ts'
import { podRequirements } from '../native/pod-requirements.ts'
import type { KnownKinds } from './known-kind.ts'

const failedPhases: ReadonlySet<string> = new Set(['', 'Error', 'Failed'])

/** Counts the pods that may run at the same time, each under the workflow's constraints. */
function replicasOf(workflow: AnyObject): InterpretedReplicas {
  const spec = fieldAt(workflow, 'spec')
  const { affinity, nodeSelector, tolerations } = isJsonObject(spec) ? spec : {}
  const requirements = podRequirements({ affinity, nodeSelector, tolerations })
  return {
    replicas: numberAt(workflow, 'spec', 'parallelism') ?? 1,
    ...(requirements ? { requirements } : {}),
  }
}

/** Returns the dependencies that its pods share, including the claims that it creates itself, as in Karmada. */
function workflowDependencies(workflow: AnyObject): DependentObject[] {
  const { namespace = '' } = workflow.metadata
  const named = (kind: string, name: string): DependentObject[] =>
    name === '' ? [] : [{ apiVersion: 'v1', kind, namespace, name }]
  return [
    ...dependenciesOf({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace },
      spec: fieldAt(workflow, 'spec'),
    }),
    ...named('ServiceAccount', textAt(workflow, 'spec', 'executor', 'serviceAccountName')),
    ...objectsAt(workflow, 'spec', 'volumeClaimTemplates').flatMap((each) =>
      named('PersistentVolumeClaim', textAt(each, 'metadata', 'name')),
    ),
  ]
}

/** Argo's workflows (argoproj.github.io/workflows). */
export const argoKinds: KnownKinds = Object.freeze({
  'argoproj.io/v1alpha1 Workflow': {
    health: (workflow: AnyObject) => !failedPhases.has(textAt(workflow, 'status', 'phase')),
    replicas: { of: replicasOf, path: ['spec', 'parallelism'] },
    // Its status holds its own controller's state, and is not a subresource.
    retained: [['spec', 'suspend'], ['status']],
    dependencies: workflowDependencies,
  },
})
