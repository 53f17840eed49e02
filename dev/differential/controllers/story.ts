import { parse, parseAllDocuments } from 'yaml'

/** One line of a story and the YAML below it. README.md lists them. */
export interface Step {
  readonly verb: string
  readonly words: readonly string[]
  /** The YAML documents below the line, or the one at its end. */
  readonly documents: readonly Readonly<Record<string, unknown>>[]
  /** The step as written in the story. */
  readonly text: string
}

export interface Chapter {
  /** The name, unique in its story. */
  readonly name: string
  readonly steps: readonly Step[]
}

export interface Story {
  /** The file's name without its ending; also the namespace. */
  readonly name: string
  /** The resources, in plural, whose objects are shown at the end of each chapter. */
  readonly show: readonly string[]
  /** The time without a change that ends a chapter, in milliseconds. */
  readonly quietMs: number
  /** False: how often an event was repeated depends on when its writer tried again. */
  readonly countsEvents: boolean
  /** True if other stories' nodes would affect its result. */
  readonly isAlone: boolean
  readonly chapters: readonly Chapter[]
}

const workloads =
  'cronjobs daemonsets deployments horizontalpodautoscalers jobs replicasets replicationcontrollers ' +
  'statefulsets controllerrevisions persistentvolumeclaims pods events'
const quietMsDefault = 400

export function parseStory(name: string, text: string): Story {
  const [head = '', ...sections] = text.replaceAll('${ns}', name).split(/^### /m)
  const headers = new Map<string, string>()
  for (const line of head.split('\n')) {
    const [, key, value] = /^(\w+): (.*)$/.exec(line) ?? []
    if (key !== undefined && value !== undefined) headers.set(key, value.trim())
  }
  return {
    name,
    show: (headers.get('Show') ?? workloads).split(/[ ,]+/),
    quietMs: durationMs(headers.get('Quiet') ?? `${quietMsDefault}ms`),
    countsEvents: headers.get('Counts') !== 'vary',
    isAlone: headers.get('Alone') === 'yes',
    chapters: sections.map((section) => parseChapter(name, section)),
  }
}

function parseChapter(story: string, section: string): Chapter {
  const [name = '', ...lines] = section.split('\n')
  const steps: Step[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (line.trim() === '' || line.startsWith('#')) continue
    if (line.startsWith(' ')) throw new RangeError(`${story}: "${line.trim()}" is below no step`)
    const block: string[] = []
    while (/^( {2}|\s*$)/.test(lines[at + 1] ?? 'end'))
      block.push((lines[(at += 1)] ?? '').slice(2))
    steps.push(parseStep(line, block.join('\n')))
  }
  return { name: name.trim(), steps }
}

/** A flow mapping at the end of the line, `patch pods/a {spec: {…}}`, is the step's document. */
function parseStep(line: string, block: string): Step {
  const flow = line.indexOf(' {')
  const words = (flow < 0 ? line : line.slice(0, flow)).trim().split(/\s+/)
  const [verb = '', ...others] = words
  const inline = flow < 0 ? [] : [parse(line.slice(flow))]
  const documents = parseAllDocuments(block)
  const below = 'empty' in documents ? [] : documents.map((document) => document.toJS())
  return { verb, words: others, documents: [...inline, ...below].filter(isObject), text: line }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the milliseconds of `400ms`, `10s` or `2m`. Throws RangeError for anything else. */
export function durationMs(text: string): number {
  const [, digits, unit = ''] = /^(\d+)(ms|s|m)$/.exec(text) ?? []
  if (digits === undefined) throw new RangeError(`Cannot read "${text}": say 400ms, 10s or 2m`)
  return Number(digits) * (unit === 'ms' ? 1 : unit === 's' ? 1_000 : 60_000)
}
