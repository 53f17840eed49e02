import { isJsonObject, type JsonObject } from '@skerry/api'
import type { ApiAnswer } from '@skerry/apiserver'
import { consoleBounds } from '../limits-table.ts'
import { wholeText } from './read-lines.ts'

/** Reports that a list or watch was refused. The status is what the server said, for the tab. */
export class RefusedError extends Error {
  override name = 'RefusedError'
  readonly status: {
    readonly code: number
    readonly reason: string
    readonly message: string
    /** The id under which the audit log has the request. */
    readonly requestId?: string
  }
  readonly retryAfterMs: number

  constructor(status: JsonObject, retryAfterSeconds = 0) {
    const { code, reason, message, requestId } = status
    const text = typeof message === 'string' ? message.slice(0, messageCharsMax) : 'refused'
    super(text)
    this.status = {
      code: typeof code === 'number' ? code : 500,
      reason: typeof reason === 'string' ? reason : 'Unknown',
      message: text,
      ...(typeof requestId === 'string' ? { requestId } : {}),
    }
    this.retryAfterMs = retryAfterSeconds * 1_000
  }

  /** True if the same request may succeed later. */
  get mayPass(): boolean {
    return [429, 500, 502, 503, 504].includes(this.status.code)
  }

  /** True if the cluster cannot be reached. */
  get isAway(): boolean {
    return [502, 503, 504].includes(this.status.code)
  }
}

const { messageCharsMax, statusBytesMax, retryAfterSecondsMax } = consoleBounds.refusedError

/** Reads the refusal of a server, which may be any text. */
export async function refusedBy({ status, headers, body }: ApiAnswer): Promise<RefusedError> {
  const text = await wholeText(body, statusBytesMax).catch(() => '')
  const seconds = Number(headers['retry-after'] ?? 0)
  const retryAfter = Number.isFinite(seconds)
    ? Math.min(Math.max(0, seconds), retryAfterSecondsMax)
    : 0
  const code = status >= 400 ? status : 502
  const known = parsed(text)
  const message = `the server answered with status ${status}`
  const requestId = headers['audit-id'] ?? null
  return new RefusedError({ reason: 'Unknown', message, ...known, code, requestId }, retryAfter)
}

export function refusedFor(code: number, why: string): RefusedError {
  return new RefusedError({ code, reason: 'Unknown', message: `Cannot watch: ${why}` })
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    // It is not a Status.
    return {}
  }
}
