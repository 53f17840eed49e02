import {
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  type ExecAction,
  type GRPCAction,
  type HTTPGetAction,
  type Lifecycle,
  type Probe,
  type SleepAction,
  type TCPSocketAction,
} from '@skerry/api'
import {
  addInvalid,
  checkNonNegative,
  checkNotEmpty,
  checkOneOf,
  checkPort,
  checkPortNumber,
  type Found,
} from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'

interface Handler {
  exec?: Loose<ExecAction>
  httpGet?: Loose<HTTPGetAction>
  tcpSocket?: Loose<TCPSocketAction>
  grpc?: Loose<GRPCAction>
  sleep?: Loose<SleepAction>
}

type ProbeName = 'livenessProbe' | 'readinessProbe' | 'startupProbe'
export type Probes = { [Name in ProbeName]?: Loose<Probe> }

/** `gracePeriod` limits a sleep before the container ends. */
export function checkProbes(
  probes: Probes,
  gracePeriod: number | undefined,
  path: string,
  found: Found,
): void {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = probes[name]
    if (!probe) continue
    checkProbe(probe, gracePeriod, `${path}.${name}`, found)
    if (name === 'readinessProbe') {
      const seconds = probe.terminationGracePeriodSeconds
      if (seconds === undefined) continue
      const field = `${path}.${name}.terminationGracePeriodSeconds`
      found.push(fieldInvalid(field, seconds, 'must not be set for readinessProbes'))
    } else if (probe.successThreshold !== 1) {
      const field = `${path}.${name}.successThreshold`
      found.push(fieldInvalid(field, probe.successThreshold ?? 0, 'must be 1'))
    }
  }
}

function checkProbe(
  probe: Loose<Probe>,
  gracePeriod: number | undefined,
  path: string,
  found: Found,
): void {
  checkHandler(probe, gracePeriod, path, found)
  const numbers = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const
  for (const name of numbers) checkNonNegative(probe[name], `${path}.${name}`, found)
  const seconds = probe.terminationGracePeriodSeconds
  if (seconds !== undefined && seconds <= 0) {
    const field = `${path}.terminationGracePeriodSeconds`
    found.push(fieldInvalid(field, seconds, 'must be greater than 0'))
  }
}

export function checkLifecycle(
  lifecycle: Loose<Lifecycle> | undefined,
  gracePeriod: number | undefined,
  path: string,
  found: Found,
): void {
  if (lifecycle?.postStart) {
    checkHandler(lifecycle.postStart, gracePeriod, `${path}.postStart`, found)
  }
  if (lifecycle?.preStop) checkHandler(lifecycle.preStop, gracePeriod, `${path}.preStop`, found)
}

function checkHandler(
  handler: Handler,
  gracePeriod: number | undefined,
  path: string,
  found: Found,
): void {
  const kinds = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const
  const named = kinds.filter((kind) => handler[kind] !== undefined)
  for (const extra of named.slice(1)) {
    found.push(fieldForbidden(`${path}.${extra}`, 'may not specify more than 1 handler type'))
  }
  const [kind] = named
  if (kind === undefined) {
    found.push(fieldRequired(path, 'must specify a handler type'))
    return
  }
  const field = `${path}.${kind}`
  if (kind === 'exec') checkExec(handler.exec ?? {}, field, found)
  else if (kind === 'httpGet') checkHttpGet(handler.httpGet ?? {}, field, found)
  else if (kind === 'tcpSocket') checkPort(handler.tcpSocket?.port, `${field}.port`, found)
  else if (kind === 'grpc') checkPortNumber(handler.grpc?.port, `${field}.port`, found)
  else checkSleep(handler.sleep?.seconds ?? 0, gracePeriod, field, found)
}

function checkExec(exec: Loose<ExecAction>, path: string, found: Found): void {
  if ((exec.command ?? []).length === 0) found.push(fieldRequired(`${path}.command`))
}

const headerName = '[-A-Za-z0-9]+'
const headerPattern = new RegExp(`^${headerName}$`)
const headerText = `a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '${headerName}')`

function checkHttpGet(action: Loose<HTTPGetAction>, path: string, found: Found): void {
  checkNotEmpty(action.path, `${path}.path`, found)
  checkPort(action.port, `${path}.port`, found)
  checkOneOf(action.scheme ?? '', ['HTTP', 'HTTPS'], `${path}.scheme`, found)
  for (const { name = '' } of action.httpHeaders ?? []) {
    if (!headerPattern.test(name)) addInvalid(found, `${path}.httpHeaders`, name, [headerText])
  }
}

function checkSleep(
  seconds: number,
  gracePeriod: number | undefined,
  field: string,
  found: Found,
): void {
  if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return
  const detail = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`
  found.push(fieldInvalid(field, seconds, detail))
}
