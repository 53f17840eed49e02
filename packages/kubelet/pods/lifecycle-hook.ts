import type { Clock } from '@skerry/base'
import type { Container, EphemeralContainer, LifecycleHandler } from '@skerry/api'
import type { ContainerRuntime } from '../cri/container-runtime.ts'
import { httpGet } from '../probes/http-get.ts'
import { kubeletBounds } from '../limits-table.ts'

export interface HookTarget {
  containerId: string
  container: Container | EphemeralContainer
  podIp: string
}

export interface HookDeps {
  runtime: ContainerRuntime
  clock: Clock
}

const { httpHookTimeoutMs } = kubeletBounds.lifecycleHook

/** Runs a postStart or preStop handler to its end. Rejects when it failed. */
export async function runHook(
  handler: LifecycleHandler,
  target: HookTarget,
  deps: HookDeps,
  signal: AbortSignal,
): Promise<void> {
  const { containerId, container, podIp } = target
  if (handler.exec) {
    const cmd = handler.exec.command ?? []
    const request = { containerId, cmd, timeoutSeconds: 0 }
    const { exitCode, stdout, stderr } = await deps.runtime.execSync(request, signal)
    if (exitCode === 0) return
    const output = Buffer.concat([stdout, stderr]).toString('utf8').slice(0, 1024)
    throw new Error(
      `Exec lifecycle hook ([${cmd.join(' ')}]) for Container "${container.name}" failed - error: command '${cmd.join(' ')}' exited with ${exitCode}: ${output}`,
    )
  }
  if (handler.httpGet) {
    const { status } = await httpGet(
      {
        action: handler.httpGet,
        container,
        podIp,
        timeoutMs: httpHookTimeoutMs,
        userAgent: 'kube-lifecycle/1.36',
        clock: deps.clock,
      },
      signal,
    )
    if (status >= 400) throw new Error(`HTTP lifecycle hook failed with status ${status}`)
    return
  }
  if (handler.sleep) return deps.clock.sleep(handler.sleep.seconds * 1000, signal)
  throw new Error('invalid handler: neither exec, httpGet nor sleep')
}
