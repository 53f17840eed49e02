import { isIPv4 } from 'node:net'
import { edgeClusterBounds, provisioningBounds } from '../limits-table.ts'
import { ShellError, type Shell } from '../contract/shell.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import type { MachineRole } from '../kind/edge-cluster.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { addressOf, ask } from './commands.ts'
import { memberPorts } from './preflight-facts.ts'

const { roundTripMsMax, heartbeatMsDefault } = edgeClusterBounds
const { reachMsMax, mastersSkewMsMax } = provisioningBounds.preflight

/** Measures the ways from a machine with a member of etcd to those of the others, before any of them runs. */
export async function reachMasters(context: MachineContext): Promise<string> {
  const { machine, machines, print } = context
  const others = machines.filter(
    ({ address, role }) => role !== 'Node' && address !== machine.address,
  )
  const findings: string[] = []
  let slowestMs = 0
  for (const other of others) {
    const shell = await openOther(other, context)
    if (shell === undefined) continue
    const address = await addressAt(other, shell, context)
    if (address === undefined) continue
    const seen = await lookAt({ ...other, address }, shell, context)
    slowestMs = Math.max(slowestMs, seen.roundTripMs ?? 0)
    print(`${other.address}: ${seen.roundTripMs ?? '?'} ms there and back`)
    findings.push(...judgeWay(other, seen, context))
  }
  if (findings.length === 0) return `${slowestMs} ms to the others`
  for (const each of findings) print(each)
  throw new StepError(`${machine.address}: ${findings.join('; ')}`, { isFinal: true, findings })
}

/** One that is away has an error of its own, and this machine is not to blame. */
async function openOther(
  other: PlannedMachine,
  context: MachineContext,
): Promise<Shell | undefined> {
  try {
    return await context.shellOf(other)
  } catch (error) {
    context.signal.throwIfAborted()
    if (!(error instanceof ShellError)) throw error
    context.print(`${other.address} is not asked: ${error.message}`)
    return undefined
  }
}

/** The way to another machine, as it was seen. */
interface SeenWay {
  /** The shortest of some; undefined if nothing has answered. */
  readonly roundTripMs: number | undefined
  /** The ports of which nothing came back, not even a refusal. */
  readonly silent: readonly number[]
  /** How far the other clock is ahead, at least. */
  readonly skewMs: number
}

/** A bare machine has no `ip` before its packages come: its address of SSH counts, unless the object names an interface. */
async function addressAt(
  { address }: PlannedMachine,
  other: Shell,
  { edge, print, signal }: MachineContext,
): Promise<string | undefined> {
  const { networkInterface } = edge.spec
  try {
    return await addressOf(other, { address, networkInterface }, signal)
  } catch (error) {
    if (!(error instanceof StepError) || error.isFinal) throw error
    if (networkInterface === undefined && isIPv4(address)) return address
    print(`the way to ${address} is not measured: ${error.message}`)
    return undefined
  }
}

async function lookAt(
  { role, address }: PlannedMachine,
  other: Shell,
  { shell, signal, clock, ...context }: MachineContext,
): Promise<SeenWay> {
  const ports = portsOf(role).map(String)
  const command = ['bash', '-c', reachScript, 'bash', address, ...ports] as const
  const text = await ask({ ...context, shell, signal }, command, { timeoutMs: reachMsMax })
  const ways = text.split('\n').flatMap((line) => {
    const [, port = '', micros] = /^port (\d{1,5}) (\d{1,9}|silent)$/.exec(line) ?? []
    return port === '' ? [] : [{ port: Number(port), micros: Number(micros) }]
  })
  const times = ways.flatMap(({ micros }) => (micros >= 0 ? [micros / 1_000] : []))
  return {
    roundTripMs: times.length === 0 ? undefined : Math.round(Math.min(...times) * 10) / 10,
    silent: portsOf(role).filter(
      (port) => !ways.some((way) => way.port === port && way.micros >= 0),
    ),
    skewMs: await skewBetween(shell, other, { clock, signal }),
  }
}

function portsOf(role: MachineRole): readonly number[] {
  return role === 'Master' ? [...memberPorts, 6_443] : memberPorts
}

/** The answers of both machines took some time, by which their clocks may differ in truth: that much is forgiven. */
async function skewBetween(
  own: Shell,
  other: Shell,
  { clock, signal }: Pick<MachineContext, 'clock' | 'signal'>,
): Promise<number> {
  const aheadOf = async (
    shell: Shell,
  ): Promise<{ readonly ms: number; readonly tookMs: number }> => {
    const beginMs = clock.now()
    const { stdout } = await shell.run(['date', '+%s%3N'], { signal, keepsFiles: true })
    const endMs = clock.now()
    return { ms: Number(stdout.trim()) - (beginMs + endMs) / 2, tookMs: endMs - beginMs }
  }
  const [mine, its] = [await aheadOf(own), await aheadOf(other)]
  const apart = its.ms - mine.ms
  const doubtMs = (mine.tookMs + its.tookMs) / 2
  return Math.sign(apart) * Math.max(0, Math.abs(apart) - doubtMs)
}

/** Returns what is wrong with the way to another machine, each with its remedy. */
function judgeWay(
  { address }: Pick<PlannedMachine, 'address'>,
  { roundTripMs, silent, skewMs }: SeenWay,
  { edge }: Pick<MachineContext, 'edge'>,
): string[] {
  const findings = silent.map(
    (port) =>
      `nothing comes back from TCP port ${port} of ${address}: let the masters reach each other there`,
  )
  const heartbeatMs = edge.spec.store?.heartbeatMilliseconds ?? heartbeatMsDefault
  if (roundTripMs !== undefined && roundTripMs > roundTripMsMax) {
    findings.push(
      `a packet to ${address} and back takes ${roundTripMs} ms: masters may be at most ${roundTripMsMax} ms apart`,
    )
  } else if (roundTripMs !== undefined && roundTripMs > 2 * heartbeatMs) {
    findings.push(
      `a packet to ${address} and back takes ${roundTripMs} ms: set spec.store.heartbeatMilliseconds to ${Math.ceil(roundTripMs / 10) * 10}`,
    )
  }
  // A machine may answer with anything; a comparison with a text that is not a number is false.
  if (!(Math.abs(skewMs) <= mastersSkewMsMax)) {
    const seconds = Math.round(skewMs / 100) / 10
    findings.push(
      `the clock of ${address} differs by ${seconds} s: set both, e.g. with timedatectl`,
    )
  }
  return findings
}

/**
 * Prints for each port how many microseconds a connection takes, or that nothing came back. A port at which nobody
 * listens yet refuses, which takes as long. It is constant, and its arguments are an address and ports.
 */
const reachScript = `
address=$1; shift
for port in "$@"; do
  said=$(LC_ALL=C timeout 3 bash -c ': 3<>"/dev/tcp/$1/$2"' bash "$address" "$port" 2>&1)
  if [ $? != 0 ]; then case $said in *refused*) ;; *) echo "port $port silent"; continue ;; esac; fi
  best=
  for _ in 1 2 3; do
    begin=\${EPOCHREALTIME/[.,]/}
    { { :; } 3<>"/dev/tcp/$address/$port"; } 2>/dev/null
    end=\${EPOCHREALTIME/[.,]/}
    if [ -z "$best" ] || [ $((end - begin)) -lt "$best" ]; then best=$((end - begin)); fi
  done
  echo "port $port $best"
done
exit 0
`
