import {
  ageOf,
  humanDuration,
  type Column,
  type ControllerRevision,
  type CronJob,
  type DaemonSet,
  type Deployment,
  type Job,
  type PodDisruptionBudget,
  type ReplicaSet,
  type StatefulSet,
} from '@skerry/api'
import {
  ageCell,
  columnsOf,
  containerCells,
  integer,
  labelsText,
  nameCell,
  selectorText,
  wide,
} from './column.ts'

const deployment = columnsOf<Deployment>([
  nameCell,
  {
    name: 'Ready',
    cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1}`,
  },
  { name: 'Up-to-date', cell: ({ status }) => status?.updatedReplicas ?? 0 },
  { name: 'Available', cell: ({ status }) => status?.availableReplicas ?? 0 },
  ageCell,
  ...containerCells<Deployment>(({ spec }) => spec?.template.spec?.containers),
  wide('Selector', ({ spec }) => selectorText(spec?.selector)),
])

const replicaSet = columnsOf<ReplicaSet>([
  nameCell,
  integer('Desired', ({ spec }) => spec?.replicas ?? 1),
  integer('Current', ({ status }) => status?.replicas),
  integer('Ready', ({ status }) => status?.readyReplicas),
  ageCell,
  ...containerCells<ReplicaSet>(({ spec }) => spec?.template?.spec?.containers),
  wide('Selector', ({ spec }) => selectorText(spec?.selector)),
])

const statefulSet = columnsOf<StatefulSet>([
  nameCell,
  {
    name: 'Ready',
    cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 1}`,
  },
  ageCell,
  ...containerCells<StatefulSet>(({ spec }) => spec?.template.spec?.containers),
])

const daemonSet = columnsOf<DaemonSet>([
  nameCell,
  integer('Desired', ({ status }) => status?.desiredNumberScheduled),
  integer('Current', ({ status }) => status?.currentNumberScheduled),
  integer('Ready', ({ status }) => status?.numberReady),
  integer('Up-to-date', ({ status }) => status?.updatedNumberScheduled),
  integer('Available', ({ status }) => status?.numberAvailable),
  { name: 'Node Selector', cell: ({ spec }) => labelsText(spec?.template.spec?.nodeSelector) },
  ageCell,
  ...containerCells<DaemonSet>(({ spec }) => spec?.template.spec?.containers),
  wide('Selector', ({ spec }) => selectorText(spec?.selector)),
])

const controllerRevision = columnsOf<ControllerRevision>([
  nameCell,
  { name: 'Controller', cell: controllerText },
  { name: 'Revision', cell: ({ revision }) => revision },
  ageCell,
])

const job = columnsOf<Job>([
  nameCell,
  { name: 'Status', cell: jobStatusText },
  { name: 'Completions', cell: completionsText },
  { name: 'Duration', cell: jobDurationText },
  ageCell,
  ...containerCells<Job>(({ spec }) => spec?.template.spec?.containers),
  wide('Selector', ({ spec }) => selectorText(spec?.selector)),
])

const cronJob = columnsOf<CronJob>([
  nameCell,
  { name: 'Schedule', cell: ({ spec }) => spec?.schedule ?? '' },
  { name: 'Timezone', cell: ({ spec }) => spec?.timeZone ?? '<none>' },
  { name: 'Suspend', type: 'boolean', cell: ({ spec }) => flagText(spec?.suspend) },
  integer('Active', ({ status }) => status?.active?.length),
  {
    name: 'Last Schedule',
    cell: ({ status }, nowMs) =>
      status?.lastScheduleTime ? ageOf(status.lastScheduleTime, nowMs) : '<none>',
  },
  ageCell,
  ...containerCells<CronJob>(({ spec }) => spec?.jobTemplate.spec?.template.spec?.containers),
  wide('Selector', ({ spec }) => selectorText(spec?.jobTemplate.spec?.selector)),
])

const podDisruptionBudget = columnsOf<PodDisruptionBudget>([
  nameCell,
  { name: 'Min Available', cell: ({ spec }) => String(spec?.minAvailable ?? 'N/A') },
  { name: 'Max Unavailable', cell: ({ spec }) => String(spec?.maxUnavailable ?? 'N/A') },
  integer('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed),
  ageCell,
])

export const appsColumns: Readonly<Record<string, readonly Column[]>> = Object.freeze({
  'apps/Deployment': deployment,
  'apps/ReplicaSet': replicaSet,
  'apps/StatefulSet': statefulSet,
  'apps/DaemonSet': daemonSet,
  'apps/ControllerRevision': controllerRevision,
  'batch/Job': job,
  'batch/CronJob': cronJob,
  'policy/PodDisruptionBudget': podDisruptionBudget,
})

function controllerText({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  if (!owner) return '<none>'
  const [group = ''] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : []
  const kind = group === '' ? owner.kind : `${owner.kind}.${group}`
  return `${kind.toLowerCase()}/${owner.name}`
}

/** In order of precedence: the job's result, its deletion, the reason why it waits. */
function jobStatusText({ metadata, status }: Job): string {
  const is = (type: string) =>
    status?.conditions?.find((condition) => condition.type === type)?.status === 'True'
  if (is('Complete')) return 'Complete'
  if (is('Failed')) return 'Failed'
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(is) ?? 'Running'
}

function completionsText({ spec, status }: Job): string {
  const succeeded = status?.succeeded ?? 0
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`
  const parallelism = spec?.parallelism ?? 0
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDurationText({ status }: Job, nowMs: number): string {
  if (!status?.startTime) return ''
  const endMs = status.completionTime ? Date.parse(status.completionTime) : nowMs
  return humanDuration(endMs - Date.parse(status.startTime))
}

function flagText(flag: boolean | undefined): string {
  if (flag === undefined) return '<unset>'
  return flag ? 'True' : 'False'
}
