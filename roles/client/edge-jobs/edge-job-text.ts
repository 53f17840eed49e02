import { ageOf } from '@skerry/api'
import { jobText, type EdgeJob, type EdgeJobCluster } from '@skerry/provisioning'
import { tableLines } from '../text/print-table.ts'
import { plainText } from '../text/plain-text.ts'

export function jobPhase({ status }: EdgeJob): string {
  return status?.phase ?? 'Pending'
}

/** Formats a table of jobs, as kubectl does. */
export function jobLines(
  jobs: readonly EdgeJob[],
  { nowMs, hasNamespaces }: { readonly nowMs: number; readonly hasNamespaces: boolean },
): string[] {
  const place = (text: string): string[] => (hasNamespaces ? [text] : [])
  const rows = jobs.map((job) => [
    ...place(job.metadata.namespace ?? ''),
    job.metadata.name ?? '',
    jobText(job.spec),
    jobPhase(job),
    progressOf(job),
    ageOf(job.metadata.creationTimestamp, nowMs),
    plainText(job.status?.message ?? ''),
  ])
  const head = [...place('NAMESPACE'), 'NAME', 'WORK', 'PHASE', 'MACHINES', 'AGE', 'MESSAGE']
  return tableLines([head, ...rows], [])
}

/** Formats the number of machines that are done and of all: 7/12. */
function progressOf({ status }: EdgeJob): string {
  const { done = 0, machines = 0 } = status?.totals ?? {}
  return `${done}/${machines}`
}

/** Formats everything about one job for people. */
export function describeJob(job: EdgeJob, clusters: readonly EdgeJobCluster[]): string[] {
  const { metadata, spec, status } = job
  const fields: readonly (readonly [string, string | undefined])[] = [
    ['Name', metadata.name],
    ['Namespace', metadata.namespace],
    ['Work', jobText(spec)],
    ['Phase', jobPhase(job)],
    ['Machines', `${progressOf(job)} done`],
    ['Message', status?.message],
    ['Began', status?.startTime],
    ['Ended', status?.finishTime],
  ]
  const given = fields.flatMap(([label, text = '']) =>
    text === '' ? [] : [[`${label}:`, plainText(text)]],
  )
  return [...tableLines(given, []), '', ...machineLines(clusters)]
}

/** Formats a line for each machine. */
function machineLines(clusters: readonly EdgeJobCluster[]): string[] {
  const head = ['CLUSTER', 'MACHINE', 'ROLE', 'PHASE', 'MESSAGE']
  const rows = clusters.flatMap(({ spec, status }) => {
    const machines = status?.machines ?? []
    const whole = ['-', '-', status?.phase ?? 'Pending', plainText(status?.message ?? '')]
    if (machines.length === 0) return [[spec.edgeCluster, ...whole]]
    return machines.map(({ address, role, phase, message = '' }) => [
      spec.edgeCluster,
      plainText(address),
      role,
      phase,
      plainText(message),
    ])
  })
  return tableLines([head, ...rows], [])
}

/** Formats one line for each cluster of a job, for a watch. */
export function clusterTexts(job: EdgeJob): string[] {
  return (job.status?.clusters ?? []).map(({ name, phase, machines, done, message }) => {
    const why = message === undefined ? '' : `: ${plainText(message)}`
    return `${name}: ${phase}, ${done}/${machines} machines${why}`
  })
}
