import { runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import type { ClusterState } from '@skerry/gateway'
import type { ChosenHub } from '../../admin/chosen-hub.ts'
import { stopSignal } from '../../runtime/role-context.ts'
import { ageText, bytesText, leftText, rttText } from '../text/human-figures.ts'
import { tableLines } from '../text/print-table.ts'
import { openHub, readStates } from './cluster-states.ts'
import { followStates } from './follow-states.ts'
import { askMs } from '../limits-table.ts'

export interface ListOptions extends ChosenHub {
  /** One of wide, json, yaml and name. If omitted, a table. */
  output: string | undefined
  isWatching: boolean
}

export async function printClusters(options: ListOptions): Promise<void> {
  const { output, isWatching } = options
  const hub = await openHub(options)
  const print = statePrinter(output, isWatching, console.log)
  if (!isWatching) {
    return print(await readStates(hub, AbortSignal.timeout(askMs)), Date.now())
  }
  const signal = stopSignal()
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  await runAll(signal, [
    (scope) => followStates(hub, (states) => print(states, Date.now()), deps, scope),
  ]).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}

type PrintStates = (states: readonly ClusterState[], nowMs: number) => Promise<void>

/** Prints states as they come: a table has its head once, a watch a document for each state. */
export function statePrinter(
  output: string | undefined,
  isWatching: boolean,
  write: (line: string) => void,
): PrintStates {
  switch (output) {
    case 'json':
      return async (states) => {
        if (isWatching) for (const state of states) write(JSON.stringify(state))
        else write(JSON.stringify(states))
      }
    case 'yaml':
      return async (states) => {
        // YAML is a CommonJS package: the program's bundle has only its default export.
        const { default: yaml } = await import('yaml')
        const text = (value: unknown): string => yaml.stringify(value).trimEnd()
        if (isWatching) for (const state of states) write(`---\n${text(state)}`)
        else write(text(states))
      }
    case 'name':
      return async (states) => {
        for (const { name } of states) write(`cluster.cluster.karmada.io/${name}`)
      }
    default:
      return tablePrinter(output === 'wide' ? [...columns, ...wideColumns] : columns, write)
  }
}

function tablePrinter(shown: readonly Column[], write: (line: string) => void): PrintStates {
  const widths: number[] = []
  let hasHead = false
  return async (states, nowMs) => {
    const rows = states.map((state) => shown.map(({ cell }) => cell(state, nowMs)))
    if (states.length === 0 && !hasHead) return write('No registered cluster is visible to you')
    const head = hasHead ? [] : [shown.map(({ name }) => name)]
    hasHead = true
    for (const line of tableLines([...head, ...rows], widths)) write(line)
  }
}

interface Column {
  readonly name: string
  readonly cell: (state: ClusterState, nowMs: number) => string
}

const columns: readonly Column[] = [
  { name: 'NAME', cell: ({ name }) => name },
  { name: 'READY', cell: ({ ready }) => ready },
  { name: 'TUNNEL', cell: ({ tunnel }) => tunnel },
  { name: 'SINCE', cell: ({ since }, nowMs) => ageText(since, nowMs) },
  { name: 'LAST SEEN', cell: ({ lastSeen }, nowMs) => ageText(lastSeen, nowMs) },
  { name: 'RTT', cell: ({ rttMs }) => rttText(rttMs) },
  { name: 'AGENTS', cell: ({ agents }) => String(oneEach(agents).length) },
  { name: 'VERSION', cell: ({ kubernetesVersion }) => kubernetesVersion || '-' },
  { name: 'NODES', cell: ({ nodes: { ready, total } }) => `${ready}/${total}` },
]

const wideColumns: readonly Column[] = [
  { name: 'STREAMS', cell: ({ streams }) => String(streams) },
  { name: 'IN/S', cell: ({ bytesInPerSecond }) => bytesText(bytesInPerSecond) },
  { name: 'OUT/S', cell: ({ bytesOutPerSecond }) => bytesText(bytesOutPerSecond) },
  { name: 'IN', cell: ({ bytesIn }) => bytesText(bytesIn) },
  { name: 'OUT', cell: ({ bytesOut }) => bytesText(bytesOut) },
  { name: 'HOST', cell: ({ agents }) => each(agents, ({ agent }) => agent?.host) },
  { name: 'ADDRESS', cell: ({ agents }) => each(agents, ({ agent }) => agent?.address) },
  { name: 'AGENT', cell: ({ agents }) => each(agents, ({ agent }) => agent?.version) },
  { name: 'CERTIFICATE', cell: ({ agents }, nowMs) => leftText(soonest(agents), nowMs) },
  {
    name: 'LAST END',
    cell: ({ lastEnd }, nowMs) =>
      lastEnd ? `${ageText(lastEnd.at, nowMs)} ago: ${lastEnd.reason}` : '-',
  },
]

type Agents = ClusterState['agents']

function each(agents: Agents, of: (agent: Agents[number]) => string | null | undefined): string {
  return (
    oneEach(agents)
      .map((agent) => of(agent) || '-')
      .join(',') || '-'
  )
}

/** Keeps one tunnel per agent, which has one to each replica of a hub. */
function oneEach(tunnels: Agents): Agents {
  const hosts = tunnels.map(({ agent }) => agent?.host ?? undefined)
  return tunnels.filter((_, at) => hosts[at] === undefined || hosts.indexOf(hosts[at]) === at)
}

/** Returns the first expiry of their certificates. */
function soonest(agents: Agents): string | undefined {
  const times = agents.flatMap(({ agent }) => agent?.certificateExpires ?? [])
  return times.toSorted()[0]
}
