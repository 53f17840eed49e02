import { pino } from 'pino'

/**
 * The levels: error means that a person must act, info that a state changed, debug is the rest.
 * There is no warn, because its author would not have decided whether a person must act.
 */
export type LogLevel = 'error' | 'info' | 'debug'

/** Values are scalars by type, because an object could carry a secret into the log unseen. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | null | undefined | Error>
>

export interface Logger {
  error(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  /** Returns a logger that adds these fields to each line. */
  child(fields: LogFields): Logger
}

export interface LoggerOptions {
  level: LogLevel
  /** Receives one JSON object per line; process.stderr in a program. */
  destination: { write(line: string): void }
}

/**
 * Creates a logger. Messages are constant texts, and variable parts go into fields, so that lines
 * can be counted and searched.
 */
export function createLogger(options: LoggerOptions): Logger {
  const root = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
      serializers: {},
    },
    options.destination,
  )
  return wrap(root)
}

type PinoLike = Pick<ReturnType<typeof pino>, 'error' | 'info' | 'debug' | 'isLevelEnabled'> & {
  child(fields: object): PinoLike
}

function wrap(target: PinoLike): Logger {
  // Every request has debug lines; while that level is off, their fields are not even copied.
  const isDebug = target.isLevelEnabled('debug')
  return {
    error: (message, fields) => target.error(plain(fields), message),
    info: (message, fields) => target.info(plain(fields), message),
    debug: (message, fields) => {
      if (isDebug) target.debug(plain(fields), message)
    },
    child: (fields) => wrap(target.child(plain(fields))),
  }
}

function plain(fields: LogFields = {}): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(fields)) {
    out[key] = value instanceof Error ? describe(value) : value
  }
  return out
}

/**
 * Returns the messages of the error and its causes, without the stack, which is for debug and crash
 * output.
 */
function describe(error: Error): string {
  const cause = error.cause instanceof Error ? `: ${describe(error.cause)}` : ''
  return `${error.message}${cause}`
}

export const silentLogger: Logger = Object.freeze({
  error: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  child: () => silentLogger,
})
