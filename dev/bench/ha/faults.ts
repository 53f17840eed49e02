import { setTimeout as sleep } from 'node:timers/promises'
import { failLinks } from '../../e2e/fail-links.ts'
import {
  controllersLeader,
  etcdLeader,
  etcdPid,
  untilAllVote,
  untilServes,
  type BundledMaster,
  type Scene,
} from './bundled-masters.ts'
import { monotonicMs } from './orders.ts'

/** A fault that takes longer than this has no figure. */
const forMs = 60_000
/** Writes go on for so long before a fault. */
const beforeMs = 1_000
/** A master waits for its etcd for five seconds: what it was asked before a fault is answered by then. */
const answersMsMax = 6_000

type Choose = (scene: Scene) => Promise<BundledMaster>
type Act = (master: BundledMaster, others: readonly BundledMaster[]) => Promise<AsyncDisposable>

/** Lets masters fail in turn, and returns the milliseconds until things went on at the others. */
export async function measureFaults(scene: Scene) {
  const follower: Choose = async (each) => {
    const leader = await etcdLeader(each)
    return each.masters.find((master) => master !== leader) ?? leader
  }
  return {
    'ha.write-again.follower-killed': await writeAgain(scene, follower, kill),
    'ha.write-again.leader-killed': await writeAgain(scene, etcdLeader, kill),
    'ha.write-again.leader-silent': await writeAgain(scene, etcdLeader, silence),
    'ha.controllers.planned-stop': await controllersAct(scene, stop),
    'ha.controllers.killed': await controllersAct(scene, kill),
  }
}

/** Writes to both others from before the fault on. */
async function writeAgain(scene: Scene, choose: Choose, act: Act): Promise<number> {
  const { clients } = scene
  const dead = await choose(scene)
  const others = othersOf(scene, dead)
  const faultMs = monotonicMs() + beforeMs
  const at = others.map(({ kubeconfig }) => kubeconfig)
  const prefix = `again-${Math.round(faultMs)}`
  const answered = clients.order({ do: 'write-again', at, faultMs, prefix, forMs })
  await sleep(faultMs - monotonicMs())
  const value = await during(act(dead, others), answered)
  await untilWhole(scene, dead)
  return value
}

async function controllersAct(scene: Scene, act: Act): Promise<number> {
  const { clients } = scene
  const dead = await controllersLeader(scene)
  const others = othersOf(scene, dead)
  const [{ kubeconfig: at } = dead] = others
  const faultMs = monotonicMs()
  const name = `asked-${Math.round(faultMs)}`
  const fault = act(dead, others)
  const value = await during(fault, clients.order({ do: 'controllers', at, faultMs, name, forMs }))
  await untilWhole(scene, dead)
  return value
}

/** Ends the fault once its figure is there. */
async function during(fault: Promise<AsyncDisposable>, answered: Promise<number>): Promise<number> {
  await using _fault = await fault
  return await answered
}

function othersOf({ masters }: Scene, dead: BundledMaster): BundledMaster[] {
  return masters.filter((each) => each !== dead)
}

/** Kills a master with its etcd, as the loss of its machine does, for peers that its kernel still tells. */
const kill: Act = async (master) => {
  process.kill(await etcdPid(master), 'SIGKILL')
  await master.role.kill()
  return startAgain(master)
}

const stop: Act = async (master) => {
  await master.role.stop()
  return startAgain(master)
}

/** Nothing comes from it any more, and nobody says so. */
const silence: Act = ({ host }, others) =>
  failLinks(
    'cut',
    host,
    others.map((each) => each.host),
  )

function startAgain({ role }: BundledMaster): AsyncDisposable {
  return { [Symbol.asyncDispose]: () => role.start() }
}

async function untilWhole({ clients, bundle }: Scene, dead: BundledMaster): Promise<void> {
  await untilServes(dead, clients)
  await untilAllVote(dead, bundle)
  await sleep(answersMsMax)
}
