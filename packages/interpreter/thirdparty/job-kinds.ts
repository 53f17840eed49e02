import { isJsonObject, type AnyObject } from '@skerry/api'
import { fieldAt, numberAt, objectsAt, textAt } from '@skerry/fleet-kinds'
import type { KnownKinds } from './known-kind.ts'

type Health = (object: AnyObject) => boolean

function hasCondition(object: AnyObject, type: string): boolean {
  return objectsAt(object, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === type && textAt(condition, 'status') === 'True',
  )
}

/** Reports whether it has been observed and has not failed. */
const isNotFailed: Health = (object) =>
  Array.isArray(fieldAt(object, 'status', 'conditions')) && !hasCondition(object, 'Failed')

/** Data jobs and services: Volcano, Spark, Kubeflow, Ray, Flink. Only their health is known. */
export const jobKinds: KnownKinds = Object.freeze({
  'batch.volcano.sh/v1alpha1 Job': {
    health: (job: AnyObject) => volcanoPhases.has(textAt(job, 'status', 'state', 'phase')),
  },
  'sparkoperator.k8s.io/v1beta2 SparkApplication': { health: isSparkHealthy },
  'kubeflow.org/v1 PyTorchJob': { health: isNotFailed },
  'kubeflow.org/v1 TFJob': { health: isNotFailed },
  'kubeflow.org/v2beta1 MPIJob': {
    health: (job: AnyObject) =>
      objectsAt(job, 'status', 'conditions').length > 0 && isNotFailed(job),
  },
  'kubeflow.org/v1 Notebook': { health: isNotebookHealthy },
  'ray.io/v1 RayCluster': {
    health: (cluster: AnyObject) =>
      hasCondition(cluster, 'HeadPodReady') &&
      hasCondition(cluster, 'RayClusterProvisioned') &&
      !hasCondition(cluster, 'RayClusterReplicaFailure'),
  },
  'ray.io/v1 RayJob': { health: isRayJobHealthy },
  'ray.io/v1 RayService': { health: (service: AnyObject) => hasCondition(service, 'Ready') },
  'flink.apache.org/v1beta1 FlinkDeployment': { health: isFlinkHealthy },
})

const volcanoPhases: ReadonlySet<string> = new Set([
  'Running',
  'Completed',
  'Pending',
  'Aborting',
  'Aborted',
  'Restarting',
  'Completing',
  'Terminating',
  'Terminated',
])

function isSparkHealthy(application: AnyObject): boolean {
  const state = fieldAt(application, 'status', 'applicationState', 'state')
  return typeof state === 'string' && state !== 'FAILED'
}

const brokenReasons: ReadonlySet<string> = new Set(['Error', 'OOMKilled', 'ContainerCannotRun'])

function isNotebookHealthy(notebook: AnyObject): boolean {
  const state = ['status', 'containerState']
  if (isJsonObject(fieldAt(notebook, ...state, 'running'))) return true
  if (isJsonObject(fieldAt(notebook, ...state, 'waiting'))) {
    return textAt(notebook, ...state, 'waiting', 'reason') === 'ContainerCreating'
  }
  if (!isJsonObject(fieldAt(notebook, ...state, 'terminated'))) return false
  return (
    !brokenReasons.has(textAt(notebook, ...state, 'terminated', 'reason')) &&
    (numberAt(notebook, ...state, 'terminated', 'exitCode') ?? 0) === 0
  )
}

function isRayJobHealthy(job: AnyObject): boolean {
  const deployment = textAt(job, 'status', 'jobDeploymentStatus')
  return (
    deployment === 'Running' ||
    (deployment === 'Complete' && textAt(job, 'status', 'jobStatus') === 'SUCCEEDED')
  )
}

/** The states in which it runs, has ended, or changes between them. */
const flinkStates: ReadonlySet<string> = new Set([
  'RUNNING',
  'FINISHED',
  'FAILED',
  'CANCELED',
  'SUSPENDED',
  'CANCELLING',
  'FAILING',
  'RESTARTING',
])
const flinkStarts: ReadonlySet<string> = new Set(['CREATED', 'INITIALIZING', 'RECONCILING'])
/** The user's to put right: another cluster would not help. */
const userErrors = ['ErrImagePull', 'ImagePullBackOff', 'CrashLoopBackOff']

function isFlinkHealthy(deployment: AnyObject): boolean {
  const state = fieldAt(deployment, 'status', 'jobStatus', 'state')
  if (typeof state !== 'string') {
    return (
      textAt(deployment, 'status', 'jobManagerDeploymentStatus') === 'READY' &&
      textAt(deployment, 'status', 'lifecycleState') === 'STABLE'
    )
  }
  if (flinkStates.has(state)) return true
  const error = textAt(deployment, 'status', 'error')
  return flinkStarts.has(state) && userErrors.some((each) => error.includes(each))
}
