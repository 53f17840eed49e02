import { connect } from 'node:net'
import type { Probe } from '@skerry/api'
import { abortReason, asError } from '@skerry/base'
import { isRuntimeError } from '../cri/container-runtime.ts'
import { grpcHealth } from './grpc-health.ts'
import { httpGet, portNumber } from './http-get.ts'
import type { ProbeContext } from './probe-context.ts'
import type { ProbeTarget } from './prober.ts'
import { kubeletBounds } from '../limits-table.ts'

export interface ProbeOutcome {
  isFailure: boolean
  /** False if the probe itself could not be made, which proves nothing about the container. */
  isCounted: boolean
  /** The text after "Liveness": `probe failed: …`, `probe errored: …`. */
  message: string
}

const success: ProbeOutcome = Object.freeze({ isFailure: false, isCounted: true, message: '' })
const timeoutSecondsDefault = 1
const { outputCharactersMax } = kubeletBounds.probeOnce

interface ProbeCall {
  probe: Probe
  target: ProbeTarget
  context: ProbeContext
  timeoutMs: number
}

/** Probes once. Rejects only with the signal's reason. */
export async function probeOnce(
  probe: Probe,
  { target, context }: { target: ProbeTarget; context: ProbeContext },
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const timeoutMs = (probe.timeoutSeconds ?? timeoutSecondsDefault) * 1000
  const call = { probe, target, context, timeoutMs }
  try {
    if (probe.exec) return await probeExec(call, signal)
    if (probe.httpGet) return await probeHttp(call, signal)
    if (probe.tcpSocket) return await probeTcp(call, signal)
    return await probeGrpc(call, signal)
  } catch (error) {
    if (signal.aborted) throw abortReason(signal)
    return failure(asError(error).message)
  }
}

function failure(output: string): ProbeOutcome {
  const text = output.slice(0, outputCharactersMax)
  return { isFailure: true, isCounted: true, message: `probe failed: ${text}` }
}

async function probeExec(
  { probe, target, context, timeoutMs }: ProbeCall,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const cmd = probe.exec?.command ?? []
  const timeoutSeconds = timeoutMs / 1000
  const request = { containerId: target.containerId, cmd, timeoutSeconds }
  try {
    const { exitCode, stdout, stderr } = await context.runtime.execSync(request, signal)
    return exitCode === 0 ? success : failure(Buffer.concat([stdout, stderr]).toString('utf8'))
  } catch (error) {
    if (isRuntimeError(error, 'DeadlineExceeded')) {
      return failure(`command timed out: "${cmd.join(' ')}" timed out after ${timeoutSeconds}s`)
    }
    if (signal.aborted || !(error instanceof Error)) throw error
    const message = `probe errored and resulted in unknown state: ${error.message}`
    return { isFailure: true, isCounted: false, message }
  }
}

async function probeHttp(
  { probe, target, context: { clock }, timeoutMs }: ProbeCall,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  if (!probe.httpGet) return success
  const { container, podIp } = target
  const { status } = await httpGet(
    { action: probe.httpGet, container, podIp, timeoutMs, userAgent: 'kube-probe/1.36', clock },
    signal,
  )
  if (status >= 200 && status < 400) return success
  return failure(`HTTP probe failed with statuscode: ${status}`)
}

function probeTcp(
  { probe, target, context: { clock }, timeoutMs }: ProbeCall,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const host = probe.tcpSocket?.host || target.podIp
  const port = portNumber(probe.tcpSocket?.port ?? 0, target.container)
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal })
    const finish = (outcome: ProbeOutcome): void => {
      timer[Symbol.dispose]()
      socket.destroy()
      resolve(outcome)
    }
    const timer = clock.setTimer(timeoutMs, () => {
      finish(failure(`dial tcp ${host}:${port}: i/o timeout`))
    })
    socket.once('connect', () => finish(success))
    socket.once('error', (error) => {
      finish(failure(`dial tcp ${host}:${port}: ${error.message}`))
    })
  })
}

async function probeGrpc(
  { probe, target, timeoutMs }: ProbeCall,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const { port = 0, service } = probe.grpc ?? {}
  const address = `${target.podIp}:${port}`
  const status = await grpcHealth({ address, service: service ?? '', timeoutMs }, signal)
  if (status === 'SERVING') return success
  return failure(`service unhealthy (responded with "${status}")`)
}
