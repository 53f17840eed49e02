import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@skerry/base'
import { loadKubeconfig } from '@skerry/client'
import { atRate, percentile } from '../measure/api-load.ts'
import type { ApiSubject } from '../measure/api-subject.ts'
import { openRawClient, type RawClient } from '../../processes/raw-client.ts'
import { memoryOf, processorMs } from '../../processes/role-process.ts'

const attackMs = 2_000
/** On a busy machine an attack goes on for as long again, a few times, until the server has had so much processor time. */
const attackProcessorMs = 2_000
const attackRoundsMax = 8
/** The attacker prepares its body in this time. */
const prepareMs = 1_000
/** The honest users' own address: handshakes from one address take turns, and the attackers have another. */
const honestAddress = '127.0.0.2'
/** A request that has no answer after this time counts as refused, so that each attack ends. */
const answerMsMax = 10_000
/** Honest requests per second; half of them are writes. */
const perSecond = 25
const memoryLookMs = 50
/** A request that was refused or broke off counts as one that waited this long. */
const refusedMs = 60_000

export interface Measured {
  /** How long 99 of 100 requests of the honest user wait at the most. */
  readonly waitMs: number
  /** The most that the server's processes held. */
  readonly megabytes: number
}

/** A server that can be attacked, and a user of it who reads and writes a little. */
export interface Target extends AsyncDisposable {
  resident(): Promise<number>
  measure(attack: string): Promise<Measured>
}

/** Takes over the subject. Resolves when its compilers and caches are warm. */
export async function openTarget(subject: ApiSubject, tokens: readonly string[]): Promise<Target> {
  await using stack = new AsyncDisposableStack()
  stack.use(subject)
  const { kubeconfig, pids } = subject
  const { transport } = await loadKubeconfig(
    kubeconfig,
    {},
    { clock: systemClock, environment: {} },
  )
  const other = await openRawClient(kubeconfig, { localAddress: honestAddress })
  stack.defer(() => other.close())
  await honest(other, 'warm', 2_000)
  const resident = async (): Promise<number> => {
    const each = await Promise.all(pids.map(memoryOf))
    return each.reduce((sum, memory) => sum + memory.resident, 0)
  }
  const processorTime = async (): Promise<number> => {
    const each = await Promise.all(pids.map(processorMs))
    return each.reduce((sum, ms) => sum + ms, 0)
  }
  const owned = stack.move()
  return {
    resident,
    measure: async (name) => {
      await using _attacker = startAttacker(name, [transport.server, ...tokens])
      await using memory = watchMost(resident)
      const startMs = await processorTime()
      await sleep(prepareMs)
      const waits: number[] = []
      for (let round = 0; round < attackRoundsMax; round += 1) {
        waits.push(...(await honest(other, `${name}-${round}`, attackMs)))
        if ((await processorTime()) - startMs >= attackProcessorMs) break
      }
      return { waitMs: percentile(waits, 99), megabytes: memory.most }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Attacks until it is disposed of; then prints how often it got which answer. */
function startAttacker(name: string, args: readonly string[]): AsyncDisposable {
  const attacker = fork(join(import.meta.dirname, 'attacker.ts'), [name, ...args], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const outcomes = new Map<string, number>()
  attacker.on('message', (message) => {
    const outcome = JSON.stringify(message)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  })
  return {
    async [Symbol.asyncDispose]() {
      if (attacker.exitCode === null) {
        const ended = once(attacker, 'exit')
        attacker.kill('SIGKILL')
        await ended
      }
      console.error(`${name}: answers ${JSON.stringify(Object.fromEntries(outcomes))}`)
    },
  }
}

/** Remembers the highest value that `read` returned. */
function watchMost(read: () => Promise<number>): AsyncDisposable & { readonly most: number } {
  let most = 0
  const looking = new AbortController()
  const looks = (async () => {
    while (!looking.signal.aborted) {
      most = Math.max(most, await read())
      await sleep(memoryLookMs)
    }
  })()
  return {
    get most() {
      return most
    },
    async [Symbol.asyncDispose]() {
      looking.abort()
      await looks
    },
  }
}

/** Milliseconds of each request of a user who reads and writes a little, at a fixed rate. */
async function honest(client: RawClient, prefix: string, forMs: number): Promise<number[]> {
  const path = '/api/v1/namespaces/honest/configmaps'
  const readPath = '/api/v1/namespaces/honest'
  return atRate({ perSecond, forMs }, async (plannedMs, index) => {
    const metadata = { name: `${prefix.toLowerCase()}-${index}` }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'a' } }
    const answer = index % 2 === 0 ? client.send('POST', path, object) : client.get(readPath)
    const outcome = await Promise.race([
      answer.then(
        ({ status }) => status,
        (error: unknown) => String(error),
      ),
      sleep(answerMsMax, `no answer after ${answerMsMax} ms`, { ref: false }),
    ])
    if (outcome === 200 || outcome === 201) return performance.now() - plannedMs
    console.error(`${prefix}: the other user's request ${index} failed: ${outcome}`)
    return refusedMs
  })
}
