import { broken, type Answer } from './run-script.ts'

/** One place where two answers differ. */
export interface Difference {
  readonly script: string
  readonly exchange: string
  /** The path `status`, `headers.<name>` or `body.<path>`. */
  readonly path: string
  readonly upstream: unknown
  readonly ours: unknown
}

const noAnswer: Answer = { name: '', status: broken, headers: {}, body: undefined }

/** Returns every difference between upstream's answers and ours, in order. */
export function compareAnswers(
  script: string,
  upstream: readonly Answer[],
  ours: readonly Answer[],
): Difference[] {
  const byName = new Map(ours.map((answer) => [answer.name, answer]))
  return upstream.flatMap((expected) => {
    const { name: exchange, ...left } = expected
    const { name: _name, ...right } = byName.get(exchange) ?? noAnswer
    // A broken exchange has nothing else to compare.
    if (left.status === broken) {
      const found = { path: 'status', upstream: left.status, ours: right.status }
      return right.status === broken ? [] : [{ script, exchange, ...found }]
    }
    const settled = [left, right].map((side) => ({ ...side, body: withSettledLabels(side.body) }))
    return [...differencesBetween(settled[0], settled[1], '')].map((each) => ({
      script,
      exchange,
      ...each,
    }))
  })
}

export type Found = Pick<Difference, 'path' | 'upstream' | 'ours'>

/** Yields every field at which two values differ; `path` is its place. */
export function* differencesBetween(
  upstream: unknown,
  ours: unknown,
  path: string,
): Generator<Found> {
  if (Object.is(upstream, ours)) return
  if (areConflicts(upstream) && areConflicts(ours)) {
    yield* differencesBetween(sortedConflicts(upstream), sortedConflicts(ours), path)
    return
  }
  const areObjects = isContainer(upstream) && isContainer(ours)
  if (!areObjects || Array.isArray(upstream) !== Array.isArray(ours)) {
    yield { path, upstream, ours }
    return
  }
  const keys = new Set([...Object.keys(upstream), ...Object.keys(ours)])
  for (const key of keys) {
    const below = path === '' ? key : `${path}.${key}`
    yield* differencesBetween(upstream[key], ours[key], below)
  }
}

/** Sorts a Status's problems with the labels of one map; upstream iterates over them in random order. */
function withSettledLabels(body: unknown): unknown {
  if (!isContainer(body) || !isContainer(body['details'])) return body
  const { details, message } = body
  const { causes } = details
  if (!Array.isArray(causes) || typeof message !== 'string') return body
  const texts = causes.map(causeText)
  const settled = texts.toSorted((a, b) => {
    const [field, other] = [labelsField(a), labelsField(b)]
    return field === undefined || field !== other ? 0 : a < b ? -1 : 1
  })
  const list = (of: readonly string[]): string => [...new Set(of)].join(', ')
  return {
    ...body,
    message: message.replace(list(texts), () => list(settled)),
    details: { ...details, causes: settled.map((text) => causes[texts.indexOf(text)] as unknown) },
  }
}

function causeText(cause: unknown): string {
  return isContainer(cause) ? `${String(cause['field'])}: ${String(cause['message'])}` : ''
}

function labelsField(text: string): string | undefined {
  return /^[^: ]*(?:labels|Labels|annotations|nodeSelector): /.exec(text)?.[0]
}

/** The owner of a conflicting field: upstream lists several managers in random order. */
type Conflict = Readonly<Record<'message' | 'field' | 'reason', string>>

function areConflicts(value: unknown): value is Conflict[] {
  const isConflict = (each: unknown): boolean =>
    isContainer(each) && each['reason'] === 'FieldManagerConflict'
  return Array.isArray(value) && value.length > 1 && value.every(isConflict)
}

/** Sorts by manager. The sort is stable because the fields of one manager have an order. */
function sortedConflicts(conflicts: readonly Conflict[]): readonly unknown[] {
  return conflicts
    .toSorted((a, b) => (a.message < b.message ? -1 : a.message > b.message ? 1 : 0))
    .map(({ message, field, reason }) => ({ message, field, type: reason }))
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** A few lines for a person. */
export function formatDifference({
  exchange,
  path,
  upstream,
  ours,
}: Pick<Difference, 'exchange'> & Found): string {
  return `  ${exchange}\n    ${path}\n      upstream ${show(upstream)}\n      ours     ${show(ours)}`
}

const shownMax = 600

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
}
