import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { etcdctlScript, type CtlStep } from './etcdctl-script.ts'
import { startMember, type Member } from './start-member.ts'

const stepMsMax = 90_000

/** The output of one command and the way it ended. */
export interface CtlAnswer {
  readonly command: string
  readonly exitCode: number
  /** Without ids, times and addresses; empty if only the exit code counts. */
  readonly output: string
}

/** Plays the whole script against a new member; a second one takes the mirror. */
export async function playEtcdctl(etcdctl: string, server: string): Promise<CtlAnswer[]> {
  await using member = await startMember(server)
  await using mirror = await startMember(server)
  const answers: CtlAnswer[] = []
  let lease = ''
  for (const step of etcdctlScript) {
    const words = { dir: member.directory, mirror: mirror.endpoint, lease }
    const at = step.isOnMirror === true ? mirror : member
    const { exitCode, output } = await run(etcdctl, at, step, words)
    lease = /^lease ([0-9a-f]+) granted/.exec(output)?.[1] ?? lease
    const known = { ...words, member: member.endpoint }
    answers.push({
      command: step.args.join(' '),
      exitCode,
      output: step.isCodeOnly === true ? '' : withoutChance(output, known),
    })
  }
  return answers
}

type Words = Readonly<Record<string, string>>

async function run(etcdctl: string, member: Member, step: CtlStep, words: Words) {
  const filled = step.args.map((arg) =>
    arg.replaceAll(/\{(\w+)\}/g, (whole, name: string) => words[name] ?? whole),
  )
  const child = spawn(etcdctl, [`--endpoints=${member.endpoint}`, ...filled], {
    env: { ...process.env, ETCDCTL_API: '3' },
    timeout: stepMsMax,
  })
  child.stdin.on('error', () => undefined)
  // An interactive watch ends with its input.
  if (step.linesUntil === undefined) child.stdin.end(step.input ?? '')
  else child.stdin.write(step.input ?? '')
  let [output, complaints] = ['', '']
  let isInterrupted = false
  const interrupt = (): void => {
    isInterrupted = true
    child.kill('SIGINT')
  }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (step.linesUntil !== undefined && output.split('\n').length > step.linesUntil) interrupt()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text))
  const timer = step.lastsMs === undefined ? undefined : setTimeout(interrupt, step.lastsMs)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(timer)
  // Its end after an interrupt depends on where it was.
  const exitCode = isInterrupted ? 0 : (code ?? -1)
  const lines = output.split('\n').slice(0, step.linesUntil)
  return {
    exitCode,
    output: [...lines, ...(isInterrupted ? [] : [complaints, signal ?? ''])].join('\n'),
  }
}

function withoutChance(output: string, known: Words): string {
  let text = output
  for (const [name, value] of Object.entries(known)) {
    if (value !== '') text = text.replaceAll(value, `<${name}>`)
    if (value.startsWith('http://')) text = text.replaceAll(value.slice(7), `<${name}>`)
  }
  return text
    .split('\n')
    .map((line) => (line.startsWith('{"level"') ? (/"error":.*/.exec(line)?.[0] ?? '') : line))
    .join('\n')
    .replaceAll(/"(cluster_id|member_id|raft_term|ID|lease)":-?\d+/g, '"$1":<n>')
    .replaceAll(/"(ClusterID|MemberID|RaftTerm|Lease)" : \d+/g, '"$1" : <n>')
    .replaceAll(/\d+(?:\.\d+)?(?:ns|µs|ms|s)\b/g, '<time>')
    .replaceAll(/\b[0-9a-f]{14,16}\b/g, '<id>')
    .replaceAll(/remaining\(\d+s?\)|remaining\(<time>\)/g, 'remaining(<time>)')
    .trim()
}
