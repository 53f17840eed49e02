import {
  createLogger,
  createMetrics,
  linkedSignal,
  systemClock,
  systemRandom,
  type Clock,
  type Logger,
  type LogLevel,
  type Metrics,
  type Random,
  type Tracer,
} from '@skerry/base'
import { compileWhenBusy, thisCompiler } from './compile-when-busy.ts'
import { returnMemory, thisEngine } from './return-memory.ts'
import type { TracingFlags } from './tracing-options.ts'
import { youngBuffers } from './young-buffers.ts'

/** The context of every role: the injected seams, and a signal that requests an orderly stop. */
export interface RoleContext {
  clock: Clock
  random: Random
  log: Logger
  metrics: Metrics
  signal: AbortSignal
  /** If omitted, nothing is traced. */
  tracer?: Tracer
  /** Reports bytes that pass in buffers; omitted if the engine cannot be asked to collect them. */
  onBytes?: (bytes: number) => void
}

/** The reason of a requested stop; a role that ends with it has not failed. */
class StopRequested extends Error {
  override name = 'StopRequested'
}

/**
 * Runs one role until it ends, a signal requests a stop, or its supervisor disappears. A second signal ends
 * the wait for an orderly end.
 */
export async function runRole(
  role: string,
  logLevel: LogLevel,
  run: (context: RoleContext) => Promise<void>,
  { tracingConfigFile: path }: TracingFlags = {},
): Promise<void> {
  const log = createLogger({ level: logLevel, destination: process.stderr }).child({ role })
  const signal = stopSignal({
    onStop: (cause) => log.info('Stopping', { cause }),
    endsWithSupervisor: true,
  })
  using scope = linkedSignal(signal)
  const engine = thisEngine(process.execArgv)
  const onBytes = youngBuffers()
  const memory = engine && returnMemory({ clock: systemClock, engine }, scope.signal)
  const compiler = thisCompiler(process.execArgv)
  const compiling = compiler && compileWhenBusy({ clock: systemClock, compiler }, scope.signal)
  try {
    const context = {
      clock: systemClock,
      random: systemRandom,
      log,
      metrics: createMetrics(),
      signal,
      ...(onBytes ? { onBytes } : {}),
    }
    if (path === undefined) await run(context)
    else await (await import('./traced-role.ts')).runTraced({ role, path }, context, run)
  } catch (error) {
    if (!(signal.aborted && error === signal.reason)) throw error
  } finally {
    scope.abort(new Error('The role has ended'))
    await Promise.all([memory, compiling])
    if (process.connected) process.disconnect?.()
  }
  log.info('Stopped')
}

export interface StopOptions {
  onStop?: (cause: string) => void
  /** Whether the role stops when its supervisor is gone: the next `up` starts it again. */
  endsWithSupervisor?: boolean
}

/** Aborts when a signal asks this process to stop; the second time the process exits at once. */
export function stopSignal(options: StopOptions = {}): AbortSignal {
  const controller = new AbortController()
  const stop = (cause: string): void => {
    if (controller.signal.aborted) process.exit(1)
    options.onStop?.(cause)
    controller.abort(new StopRequested(`Stop requested: ${cause}`))
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  if (options.endsWithSupervisor && process.send)
    process.on('disconnect', () => stop('supervisor gone'))
  return controller.signal
}

/** Tells the supervisor that this role serves; without one, does nothing. */
export function reportReady(): void {
  process.send?.({ type: 'ready' })
}
