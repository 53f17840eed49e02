import type { Subject } from '../subject.ts'
import type { AskedQuestions } from './asked-questions.ts'
import { effects, servedPath, world, type Effect, type Step } from './effects-table.ts'
import type { Outcome } from './explained-differences.ts'
import { sendRaw } from './raw-client.ts'

/** An API server whose authorizer records its questions. */
export interface AskedSubject {
  readonly subject: Subject
  readonly questions: AskedQuestions
}

/** The results of one request for each set of answers to its questions: yes, no to one alone, no to all from one on. */
export interface PlayedEffect {
  readonly name: string
  readonly runs: Readonly<Record<string, Outcome>>
}

/** The maximum number of questions of a request that are denied one by one. */
const denialsMax = 12
const servedAttemptsMax = 1_000

/** Returns the file of the users with tokens, which upstream reads at its start. */
export function effectTokens(): string {
  const runs = ['allow', ...denialsOf(denialsMax)]
  const names = effects.flatMap(({ isImpersonating }, at) =>
    isImpersonating ? runs.map((run) => userOf(at, run)) : [],
  )
  return names.map((name) => `${name},${name},${name}\n`).join('')
}

/** Plays all effects, in the table's order. */
export async function playEffects(asked: AskedSubject): Promise<PlayedEffect[]> {
  for (const step of world) await prepare(asked, step, '')
  await untilServed(asked)
  const played: PlayedEffect[] = []
  for (const [at, effect] of effects.entries()) {
    const allowed = await play(asked, effect, userOf(at, 'allow'))
    const runs: Record<string, Outcome> = { allow: allowed }
    for (const run of denialsOf(allowed.questions.length)) {
      runs[run] = await play(asked, effect, userOf(at, run))
    }
    played.push({ name: effect.name, runs })
  }
  return played
}

function denialsOf(questions: number): string[] {
  const numbers = Array.from({ length: Math.min(questions, denialsMax) }, (_, at) => at)
  return numbers.flatMap((at) => [`deny-${at}`, ...(at > 0 ? [`only-${at}`] : [])])
}

function userOf(at: number, run: string): string {
  return `e${at}-${run}`
}

async function play(asked: AskedSubject, effect: Effect, user: string): Promise<Outcome> {
  for (const step of effect.before ?? []) await prepare(asked, step, user)
  const who: Record<string, string> = effect.isImpersonating
    ? { authorization: `Bearer ${user}` }
    : { 'impersonate-user': user }
  const status = await send(asked, effect, user, who)
  const questions = asked.questions
    .of(user)
    .map((question) => JSON.parse(JSON.stringify(question).replaceAll(user, '$')))
  return { status, questions }
}

async function prepare(asked: AskedSubject, step: Step, run: string): Promise<void> {
  const status = await send(asked, step, run, {})
  if (status >= 300) throw new Error(`Cannot prepare ${step.method} ${step.path}: ${status}`)
}

function send(
  { subject }: AskedSubject,
  { method, path, headers, body }: Step,
  run: string,
  who: Readonly<Record<string, string>>,
): Promise<number> {
  return sendRaw(subject, {
    method,
    target: path.replaceAll('$', run),
    headers: { ...headers, ...who },
    body: body === undefined ? '' : JSON.stringify(body).replaceAll('$', run),
    isAdministrator: who['authorization'] === undefined,
  })
}

/** A definition is served some time after it was made. */
async function untilServed(asked: AskedSubject): Promise<void> {
  for (let attempt = 0; attempt < servedAttemptsMax; attempt += 1) {
    const step = { method: 'GET', path: servedPath }
    if ((await send(asked, step, '', {})) === 200) return
  }
  throw new Error(`Cannot play: ${servedPath} is never served`)
}
