import {
  ExpectedError,
  createWakeFlag,
  exitCodes,
  linkedSignal,
  silentLogger,
  systemRandom,
} from '@skerry/base'
import { createInformer } from '@skerry/client'
import { isLook, jumpText, stepText, type EdgeCluster, type StepStatus } from '@skerry/provisioning'
import { stopSignal } from '../../runtime/role-context.ts'
import { clientBounds } from '../limits-table.ts'
import {
  commandClock,
  namespaceWords,
  noEdge,
  openEdge,
  toldPlainly,
  type EdgeAccess,
  type EdgeOptions,
} from './edge-cluster-access.ts'
import { phaseOf, screenLines, stepLine, type ScreenSize } from './edge-cluster-text.ts'
import { rowsOf } from '../text/text-width.ts'
import { endOf } from './edge-cluster-end.ts'
import { plainText } from '../text/plain-text.ts'
import { watchUntil } from './watch-until.ts'

const { drawMs, settleMs } = clientBounds.followEdgeCluster

/** The place of a watch's output. */
export interface WatchOutput {
  readonly write: (text: string) => void
  /** The size of a terminal, which is drawn again; undefined for anything else, which gets lines. */
  readonly size: () => ScreenSize | undefined
}

/** Follows an edge cluster until it is Ready or gone. Throws an ExpectedError once it has failed or is cancelled. */
export async function watchEdgeCluster(options: EdgeOptions): Promise<void> {
  await toldPlainly(`watch edge cluster ${options.name}`, async () => {
    const access = await openEdge(options)
    await followEdge(access, printerOf(options.output, processOutput()), stopSignal())
  })
}

/** Returns the output of this process. */
export function processOutput(): WatchOutput {
  const { stdout } = process
  // A dumb terminal, such as an editor's, would show the sequences that move the cursor.
  const canDraw = process.env['TERM'] !== 'dumb'
  return {
    write: (text) => stdout.write(text),
    size: () => (stdout.isTTY && canDraw ? sizeOf(stdout) : undefined),
  }
}

/** A terminal that does not know its size says 0. */
function sizeOf({ columns, rows }: ScreenSize): ScreenSize {
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 }
}

/** Shows the present state of an edge cluster. */
export type ShowEdge = (edge: EdgeCluster, nowMs: number) => void

export function printerOf(output: string | undefined, to: WatchOutput): ShowEdge {
  if (output === 'json') return jsonPrinter(to)
  return to.size() === undefined ? linePrinter(to) : screenPrinter(to)
}

/** Prints each new state as a line of JSON. */
function jsonPrinter({ write }: WatchOutput): ShowEdge {
  let last = ''
  return (edge) => {
    const text = JSON.stringify({ name: edge.metadata.name, ...edge.status, phase: phaseOf(edge) })
    if (text !== last) write(`${text}\n`)
    last = text
  }
}

/** Prints a line for each step that has changed, and for each new phase with the advice for it. */
function linePrinter({ write }: WatchOutput): ShowEdge {
  const shown = new Map<string, string>()
  let advised = ''
  return (edge, nowMs) => {
    for (const step of edge.status?.steps ?? []) {
      const text = stepText(step)
      const key = keyOf(step)
      const isFresh = step.state === 'Waiting' && (step.attempt ?? 0) === 0
      if (shown.get(text) === key || (isFresh && !shown.has(text))) continue
      shown.set(text, key)
      write(`${stepLine(step, nowMs)}\n`)
    }
    const lines = [`${edge.metadata.name ?? ''}: ${phaseOf(edge)}`, ...adviceFor(edge)].join('\n')
    if (lines !== advised) write(`${lines}\n`)
    advised = lines
  }
}

/** Leaves out the time of the next look: a step that only looks again and again has not changed. */
function keyOf(step: StepStatus): string {
  const { state, attempt, message, nextTime } = step
  return JSON.stringify([state, attempt, message, isLook(step) ? '' : nextTime])
}

/** Draws the list in the place where it was drawn before. */
function screenPrinter({ write, size }: WatchOutput): ShowEdge {
  let drawn: readonly string[] = []
  return (edge, nowMs) => {
    const { columns, rows } = size() ?? sizeOf({ columns: 0, rows: 0 })
    const advice = adviceFor(edge)
    // Advice may be wider than the screen: it is there to be copied.
    const lines = screenLines(edge, nowMs, { columns, rows: rows - rowsOf(advice, columns) })
    // A terminal that has become narrower has broken the lines that are on it.
    const up = drawn.length === 0 ? '' : `\u001B[${rowsOf(drawn, columns)}F\u001B[J`
    drawn = [...lines, ...advice]
    write(`${up}${drawn.join('\n')}\n`)
  }
}

/** Returns what a person can do about a cluster that waits for one. */
function adviceFor(edge: EdgeCluster): string[] {
  const { name = '', namespace = 'default' } = edge.metadata
  const place = namespaceWords(namespace)
  if (phaseOf(edge) === 'Paused')
    return [`Continue with "skerry edge-cluster resume ${name}${place}"`]
  if (phaseOf(edge) === 'Checked')
    return [`Every machine is fit; make it with "skerry edge-cluster make ${name}${place}"`]
  if (phaseOf(edge) !== 'Waiting') return []
  const { machines = [], jumps = [], steps = [] } = edge.status ?? {}
  const shown = [
    ...machines.map((each) => ({ ...each, address: each.address })),
    ...jumps.map((each) => ({ ...each, address: jumpText(each) })),
  ]
  const keys = shown.flatMap(({ address, unknownHostKey }) => {
    if (unknownHostKey === undefined) return []
    const key = `${address}=${plainText(unknownHostKey)}`
    return [
      `Compare the host key of ${address} with the machine's own (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then run`,
      `  skerry edge-cluster accept-host-key ${name} ${key}${place}`,
    ]
  })
  const waits = steps.filter(isLook).map(({ message = '' }) => plainText(message))
  return [...keys, ...waits]
}

export interface FollowOptions {
  readonly isLeaving?: boolean
  readonly until?: (edge: EdgeCluster) => boolean
}

/**
 * Shows an edge cluster whenever it changes. Resolves at Ready, or when one that was deleted is gone; throws an
 * ExpectedError otherwise. One that is leaving may be gone from the beginning. With `until` it resolves when that
 * stays true, whatever the end is.
 */
export async function followEdge(
  access: EdgeAccess,
  show: ShowEdge,
  signal: AbortSignal,
  { isLeaving = false, until }: FollowOptions = {},
): Promise<void> {
  const { client, key } = access
  const clock = commandClock
  const changed = createWakeFlag()
  const selected = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` }
  const deps = { clock, random: systemRandom, log: silentLogger }
  const informer = createInformer(client, selected, deps)
  using _listening = informer.onChange(() => changed.raise())
  using scope = linkedSignal(signal)
  const wait = async (ms: number): Promise<void> => {
    using _timer = clock.setTimer(ms, () => changed.raise())
    await changed.wait(scope.signal)
  }
  // An informer would try for ever what this refuses at once, such as a user without the right.
  await client.list(selected, signal)
  const follow = async (): Promise<void> => {
    await informer.whenSynced(scope.signal)
    let seen: EdgeCluster | undefined
    for (;;) {
      const edge = informer.get(key)
      if (edge === undefined) return isLeaving ? undefined : checkGone(seen, key)
      const isSame = edge === seen
      seen = edge
      show(edge, clock.now())
      const isOver = until?.(edge) ?? false
      const end = until === undefined ? endOf(edge) : undefined
      if (end === 'Ready' || (isOver && isSame)) return
      if (end !== undefined && isSame) throw failureOf(edge, end)
      await wait(end === undefined && !isOver ? drawMs : settleMs)
    }
  }
  const run = (inner: AbortSignal): Promise<void> => informer.run(inner)
  await watchUntil({ run, follow, scope, subject: `edge cluster ${key.name}` }, signal)
}

function checkGone(seen: EdgeCluster | undefined, key: EdgeAccess['key']): void {
  if (seen === undefined) throw noEdge(key)
  if (seen.metadata.deletionTimestamp !== undefined) return
  const text = `Cannot watch edge cluster ${key.name}: somebody has removed it`
  throw new ExpectedError(text, exitCodes.failure)
}

function failureOf(edge: EdgeCluster, end: 'Failed' | 'Cancelled'): ExpectedError {
  const { name = '', namespace = 'default' } = edge.metadata
  const place = namespaceWords(namespace)
  const doing = edge.metadata.deletionTimestamp === undefined ? 'make' : 'remove'
  const step = edge.status?.steps?.find(({ state }) => state === end)
  const retry = `"skerry edge-cluster retry ${name}${place}"`
  const text = step === undefined ? '' : stepText(step)
  const why =
    end === 'Cancelled'
      ? `it was cancelled; continue with ${retry}`
      : `${text} failed: ${plainText(step?.message ?? '')}; read "skerry edge-cluster logs ${name} ${text}${place}", put it right, then run ${retry}`
  return new ExpectedError(`Cannot ${doing} edge cluster ${name}: ${why}`, exitCodes.failure)
}
