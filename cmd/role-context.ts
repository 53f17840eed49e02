import {
  createLogger,
  createMetrics,
  systemClock,
  systemRandom,
  type Clock,
  type Logger,
  type LogLevel,
  type Metrics,
  type Random,
} from '@skerry/base'

/** What every role is given: the injected seams, and a signal that asks it to stop in order. */
export interface RoleContext {
  clock: Clock
  random: Random
  log: Logger
  metrics: Metrics
  signal: AbortSignal
}

export const logLevels: readonly LogLevel[] = ['error', 'info', 'debug']

/** The reason of a stop that somebody asked for; a role that ends by it has not failed. */
export class StopRequested extends Error {
  override name = 'StopRequested'
}

/**
 * Runs one role until it ends, a signal asks it to stop, or its supervisor goes away. The second
 * signal stops waiting for an orderly end.
 */
export async function runRole(
  role: string,
  logLevel: LogLevel,
  run: (context: RoleContext) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  const log = createLogger({ level: logLevel, destination: process.stderr }).child({ role })
  const stop = (cause: string): void => {
    if (controller.signal.aborted) process.exit(1)
    log.info('Stopping', { cause })
    controller.abort(new StopRequested(`Stop requested: ${cause}`))
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  if (process.send) process.on('disconnect', () => stop('supervisor gone'))
  try {
    await run({
      clock: systemClock,
      random: systemRandom,
      log,
      metrics: createMetrics(),
      signal: controller.signal,
    })
  } catch (error) {
    if (!(controller.signal.aborted && error === controller.signal.reason)) throw error
  } finally {
    if (process.connected) process.disconnect?.()
  }
  log.info('Stopped')
}

/** Tells the supervisor that this role serves; without one, does nothing. */
export function reportReady(): void {
  process.send?.({ type: 'ready' })
}
