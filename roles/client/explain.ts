import { isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import type { ClusterClient } from '@skerry/client'
import type { ChildExplanation } from '@skerry/edge-apps'
import { explain, type Explanation, type ExplainedRef } from '@skerry/propagation'
import { openChosenHub } from '../admin/admin-cluster.ts'
import type { ChosenHub } from '../admin/chosen-hub.ts'
import { tableLines } from './text/print-table.ts'
import { askMs } from './limits-table.ts'

export interface ExplainOptions extends ChosenHub {
  /** The object as `kind/name`. */
  object: string
  namespace: string
  /** Either json or yaml. If omitted, text for people. */
  output: string | undefined
}

/** Throws ExpectedError for what a person can put right. */
export async function printExplanation(options: ExplainOptions): Promise<void> {
  const { output } = options
  const ref = parseRef(options)
  const { cluster: hub } = await openChosenHub(options)
  if (await printChild(hub, ref, output)) return
  const deps = { hub, clock: systemClock }
  const told = await explain(deps, ref, AbortSignal.timeout(askMs)).catch((error: unknown) => {
    if (!isStatusError(error, 'NotFound')) throw error
    throw unexplained(options.object, error.message)
  })
  await print(told, output, explanationLines)
}

/** Explains an object that an application in groups of nodes has made, and returns false for any other. */
async function printChild(
  cluster: ClusterClient,
  ref: ExplainedRef,
  output: string | undefined,
): Promise<boolean> {
  const { explainChild } = await import('@skerry/edge-apps')
  const { kind, name, namespace } = ref
  const told = await explainChild(cluster, { kind, name, namespace }, AbortSignal.timeout(askMs))
  if (told) await print(told, output, childLines)
  return told !== undefined
}

async function print<T>(
  told: T,
  output: string | undefined,
  lines: (told: T) => readonly string[],
): Promise<void> {
  if (output === 'json') return console.log(JSON.stringify(told))
  if (output === 'yaml') {
    // YAML is a CommonJS package: the program's bundle has only its default export.
    const { default: yaml } = await import('yaml')
    return console.log(yaml.stringify(told, { aliasDuplicateObjects: false }).trimEnd())
  }
  for (const line of lines(told)) console.log(line)
}

/** Formats the explanation of a child for people: its place and state, then the fields of its own. */
function childLines({ object, application, state, differences }: ChildExplanation): string[] {
  const { phase = 'Unknown', reason, message } = state ?? {}
  const why = [reason && `(${reason})`, message].filter(Boolean).join(' ')
  return [
    field('Object', `${object.kind} ${object.namespace}/${object.name}`),
    field('Made by', `${application.kind} ${application.name}`),
    ...(state && state.name !== '' ? [field('Group', state.name)] : []),
    field('State', why === '' ? phase : `${phase} ${why}`),
    ...section('Differences', [
      ['Field', 'In common', 'Here', 'Because of'],
      ...differences.map(({ path, from, to, why: because }) => [
        path,
        valueText(from),
        valueText(to),
        because,
      ]),
    ]),
  ]
}

function valueText(value: unknown): string {
  return value === undefined ? '-' : JSON.stringify(value)
}

function parseRef({ object, namespace }: ExplainOptions): ExplainedRef {
  const [kind = '', name = '', ...more] = object.split('/')
  if (kind !== '' && name !== '' && more.length === 0) return { kind, name, namespace }
  throw unexplained(object, 'name one object as kind/name, e.g. deployment/web')
}

function unexplained(object: string, why: string): ExpectedError {
  return new ExpectedError(`Cannot explain ${object}: ${why}`, exitCodes.usage)
}

/** Formats an explanation for people: the claiming policy, the waves, then each cluster with its reasons. */
export function explanationLines(told: Explanation): string[] {
  const { object, scheduled, waves, clusters } = told
  const place = object.namespace ? `${object.namespace}/` : ''
  return [
    field('Object', `${object.kind} ${place}${object.name}`),
    ...claimLines(told),
    ...(scheduled
      ? [field('Scheduled', `${scheduled.status} (${scheduled.reason}): ${scheduled.message}`)]
      : []),
    ...section('Waves', [
      ['Wave', 'Open', 'Well', 'Needed', 'Clusters'],
      ...waves.map(({ name, isOpen, well, needed, clusters: names }) => [
        name,
        isOpen ? 'yes' : 'no',
        String(well),
        String(needed),
        String(names.length),
      ]),
    ]),
    ...section('Clusters', [
      ['Cluster', 'Standing', 'Replicas', 'Overrides', 'Why'],
      ...clusters.map(({ name, standing, replicas, overrides, why }) => [
        name,
        standing,
        replicas === undefined ? '-' : String(replicas),
        overrides.map(overrideText).join(',') || '-',
        why.join(' '),
      ]),
    ]),
  ]
}

const labelChars = 12

function field(label: string, value: string): string {
  return `${`${label}:`.padEnd(labelChars)}${value}`
}

function claimLines({ claim }: Explanation): string[] {
  const { policy, why, others } = claim
  return [
    field('Policy', policy ? `${policyText(policy)}: ${why}` : `none; ${why}`),
    ...others.map((other) => field('Not', `${policyText(other.policy)}: ${other.why}`)),
  ]
}

function policyText({ kind, namespace, name }: { kind: string; namespace?: string; name: string }) {
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`
}

/** Formats `shop/edge#0`: a policy, and the index of its rule. */
function overrideText({ policy, namespace, rule }: Explanation['clusters'][0]['overrides'][0]) {
  return `${namespace ? `${namespace}/` : ''}${policy}#${rule}`
}

/** Returns a table below its name, or nothing if it has no row but its head. */
function section(label: string, rows: readonly string[][]): string[] {
  if (rows.length < 2) return []
  return [`${label}:`, ...tableLines(rows, []).map((line) => `  ${line}`)]
}
