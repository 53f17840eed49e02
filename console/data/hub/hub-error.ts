/** A request that the hub, or a cluster behind it, did not carry out. */

export interface HubErrorFacts {
  /** The HTTP status; 0 if there is none. */
  readonly code: number
  readonly reason: string
  /** The id under which the audit log has the request. */
  readonly requestId?: string
  readonly retryAfterSeconds?: number
  readonly causes?: readonly FieldFault[]
}

/** One field that the server refuses, from the details of its Status. */
export interface FieldFault {
  readonly field: string
  readonly message: string
  readonly reason: string
}

export class HubError extends Error {
  readonly facts: HubErrorFacts

  constructor(message: string, facts: HubErrorFacts, options?: ErrorOptions) {
    super(message, options)
    this.name = 'HubError'
    this.facts = facts
  }

  get isForbidden(): boolean {
    return this.facts.code === 403
  }

  get isMissing(): boolean {
    return this.facts.code === 404
  }

  /** Nobody can be asked at the moment: the hub, the tunnel or the cluster is away. */
  get isAway(): boolean {
    const { code, reason } = this.facts
    return reason === withoutAnswer || [502, 503, 504].includes(code)
  }
}

const withoutAnswer = 'NoAnswer'

/** The way to the hub broke, or the answer took too long. */
export function noAnswer(thrown: unknown): HubError {
  return new HubError(textOf(thrown), { code: 0, reason: withoutAnswer }, { cause: thrown })
}

/** Anything but a HubError is a mistake, such as an answer of another shape: nothing is away. */
export function asHubError(thrown: unknown): HubError {
  if (thrown instanceof HubError) return thrown
  return new HubError(textOf(thrown), { code: 0, reason: 'Unknown' }, { cause: thrown })
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

interface StatusBody {
  readonly kind?: unknown
  readonly message?: unknown
  readonly reason?: unknown
  readonly code?: unknown
  readonly details?: {
    readonly causes?: readonly { field?: string; message?: string; reason?: string }[]
    readonly retryAfterSeconds?: number
  }
}

/** Reads a Kubernetes Status. Anything else becomes an error with the text, bounded, as it came. */
export function errorOfAnswer(
  body: string,
  answer: { code: number; requestId?: string; retryAfter?: string },
): HubError {
  const status = parseStatus(body)
  const retryAfterSeconds = status?.details?.retryAfterSeconds ?? secondsOf(answer.retryAfter)
  const causes = status?.details?.causes?.map(({ field = '', message = '', reason = '' }) => ({
    field,
    message,
    reason,
  }))
  const facts: HubErrorFacts = {
    code: answer.code,
    reason: typeof status?.reason === 'string' ? status.reason : 'Unknown',
    ...(answer.requestId === undefined ? {} : { requestId: answer.requestId }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(causes === undefined ? {} : { causes }),
  }
  const text = typeof status?.message === 'string' ? status.message : body.slice(0, 300)
  return new HubError(text.trim() || `The hub answered ${answer.code}`, facts)
}

function parseStatus(body: string): StatusBody | undefined {
  if (!body.startsWith('{')) return undefined
  try {
    // Each member that is read below is checked or optional.
    const parsed = JSON.parse(body) as StatusBody
    return parsed.kind === 'Status' ? parsed : undefined
  } catch {
    return undefined
  }
}

function secondsOf(text: string | undefined): number | undefined {
  const seconds = Number(text)
  return text !== undefined && Number.isFinite(seconds) ? seconds : undefined
}
