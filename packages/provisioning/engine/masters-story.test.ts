import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeClusterAsks } from '../kind/edge-cluster.ts'
import {
  blocksOf,
  EdgeScene,
  fifth,
  first,
  fourth,
  second,
  sixth,
  third,
} from '../testing/edge-scene.ts'
import type { FakeEdgeMachine } from '../testing/fake-edge.ts'

const store = { type: 'Etcd' as const }
const masters = [first, second, third]

async function threeMasters(nodes: readonly string[] = [fourth]): Promise<EdgeScene> {
  const scene = new EdgeScene({ machines: blocksOf(masters, nodes), store, retry: { attempts: 2 } })
  await scene.settle()
  assert.equal(scene.story.status.phase, 'Ready', JSON.stringify(scene.story.status.steps))
  return scene
}

const nameOf = (address: string): string => `m-${address.replaceAll('.', '-')}`
const votersOf = ({ world }: EdgeScene): string[] => [...world.voters].toSorted()
const namesOf = (...addresses: string[]): string[] => addresses.map(nameOf)
const untouched = (machine: FakeEdgeMachine): string[] =>
  [...machine.files.keys()].filter((path) => !['/etc/hosts', '/etc/motd'].includes(path))

/** Notes the members each time that a step begins which changes them or a machine. */
function watchVotes(scene: EdgeScene): string[] {
  const seen: string[] = []
  for (const machine of scene.world.machines.values()) {
    const push = machine.commands.push.bind(machine.commands)
    machine.commands.push = (...commands) => {
      for (const [, group = '', verb = ''] of commands) {
        const isChange = ['remove-member', 'clean', 'drain-node', 'delete-node'].includes(verb)
        if (isChange) seen.push(`${group} ${verb} with ${scene.world.voters.size} voters`)
      }
      return push(...commands)
    }
  }
  return seen
}

test('a living master that leaves loses its vote before it is cleaned, and nothing of it stays there', async () => {
  const scene = await threeMasters()
  const seen = watchVotes(scene)
  scene.story.change({ machines: blocksOf([first, second, fifth], [fourth]) })
  await scene.settle()
  assert.equal(scene.story.status.phase, 'Ready')
  assert.deepEqual(seen, [
    'machine drain-node with 3 voters',
    'machine drain-node with 3 voters',
    'machine delete-node with 3 voters',
    'site remove-member with 3 voters',
    'machine clean with 2 voters',
  ])
  assert.deepEqual(votersOf(scene), namesOf(first, second, fifth))
  assert.deepEqual([...scene.world.nodes.keys()].toSorted(), namesOf(first, second, fourth, fifth))
  const left = scene.world.machine(third)
  assert.deepEqual([untouched(left), [...left.running.keys()]], [[], []])
  const known = scene.story.status.machines?.map(({ address }) => address)
  assert.deepEqual(known, [first, second, fifth, fourth])
})

test('the master that began the site leaves like any other', async () => {
  const scene = await threeMasters()
  scene.story.change({ machines: blocksOf([fifth, second, third], [fourth]) })
  await scene.settle()
  assert.equal(scene.story.status.phase, 'Ready')
  assert.deepEqual(votersOf(scene), namesOf(second, third, fifth))
  assert.deepEqual(untouched(scene.world.machine(first)), [])
  const founders = scene.story.status.machines?.filter(({ site }) => site === 'Founds')
  assert.deepEqual(founders, [], 'nobody begins a second site')
})

test('three masters become one, and votes are taken one after another', async () => {
  const scene = await threeMasters()
  const seen = watchVotes(scene)
  scene.story.change({ machines: blocksOf([second], [fourth]) })
  await scene.settle()
  assert.equal(scene.story.status.phase, 'Ready')
  const votes = seen.filter((text) => text.startsWith('site remove-member'))
  assert.deepEqual(votes, ['site remove-member with 3 voters', 'site remove-member with 2 voters'])
  assert.deepEqual(votersOf(scene), namesOf(second))
})

test('no master leaves whose vote the others need: its pods stay, and so does its vote', async () => {
  const scene = await threeMasters()
  const seen = watchVotes(scene)
  scene.world.machine(second).hasHealthyMember = false
  scene.story.change({ machines: blocksOf([first, second, fifth], [fourth]) })
  await scene.settle()
  assert.match(
    scene.step(`CheckQuorum@${third}`),
    /^Failed: 10\.0\.0\.3 cannot leave: without member m-10-0-0-3, etcd would have no quorum, because m-10-0-0-2 is not healthy: put that right, or remove it first$/,
  )
  assert.deepEqual(seen, [])
  assert.ok(scene.world.voters.has(nameOf(third)))
  assert.equal(scene.world.nodes.get(nameOf(third))?.isCordoned, false)
  assert.ok(scene.world.machine(third).running.has('skerry-site'))
  // Meanwhile the other one may join, after which the departure does no harm.
  assert.deepEqual(votersOf(scene), namesOf(first, second, third, fifth))
  retryFailed(scene)
  await scene.settle()
  assert.equal(scene.story.status.phase, 'Ready')
  assert.deepEqual(votersOf(scene), namesOf(first, second, fifth))
})

/** Does what the controller does when a person asks for another attempt. */
function retryFailed({ story }: EdgeScene): void {
  const { status } = story
  const steps = (status.steps ?? []).map((step) => {
    if (step.state !== 'Failed') return step
    const { name, machine } = step
    return { name, ...(machine === undefined ? {} : { machine }), state: 'Waiting' as const }
  })
  story.edge = { ...story.edge, status: { ...status, steps } }
}

test('a dead master is replaced: its vote goes first, then the new one joins, and nodes go on', async () => {
  const scene = await threeMasters()
  scene.world.machine(third).isAway = true
  scene.story.change({ machines: blocksOf([first, second, sixth], [fourth]) })
  scene.story.mark({ annotations: { [edgeClusterAsks.dead]: third } })
  await scene.settle()
  assert.equal(scene.story.status.phase, 'Ready')
  assert.deepEqual(votersOf(scene), namesOf(first, second, sixth))
  assert.deepEqual([...scene.world.nodes.keys()].toSorted(), namesOf(first, second, fourth, sixth))
  assert.equal(scene.step(`CleanMachine@${third}`), 'there is no such step')
  const order = scene.world.machine(sixth).running.get('skerry-site')
  assert.match(order ?? '', /--join/)
})

test('two masters are added to one, one after another, and its pods and nodes go on', async () => {
  const scene = new EdgeScene({ machines: blocksOf([first], [fourth]), retry: { attempts: 2 } })
  await scene.settle()
  assert.equal(scene.story.status.phase, 'Ready')
  assert.deepEqual(votersOf(scene), [])
  const nodeStarts = (): number =>
    scene.world
      .machine(fourth)
      .commands.filter((words) => words.join(' ') === 'systemctl restart skerry-node').length
  assert.equal(nodeStarts(), 1)
  scene.story.change({ machines: blocksOf([first, second, third], [fourth]), store })
  await scene.settle()
  assert.equal(scene.story.status.phase, 'Ready')
  assert.deepEqual(votersOf(scene), namesOf(first, second, third))
  assert.equal(nodeStarts(), 1)
})

test('a change of the proxy starts the masters again one after another, and none while etcd would lose its quorum', async () => {
  const scene = await threeMasters()
  const { world, story } = scene
  const most = watchRestarts(scene)
  story.change({ proxy: { httpProxy: 'http://proxy.example:3128' } })
  await scene.settle()
  assert.equal(story.status.phase, 'Ready')
  assert.deepEqual([most.restarts.toSorted(), most.missing()], [masters, 1])
  world.machine(third).hasHealthyMember = false
  most.stuck.add(third)
  story.change({ proxy: { httpProxy: 'http://other.example:3128' } })
  await scene.settle()
  for (const address of [first, second]) {
    assert.match(scene.step(`ConfigureMachine@${address}`), /^Failed: .*would lose its quorum/)
  }
  assert.match(
    scene.step(`ConfigureMachine@${third}`),
    /^Failed: member \S+ of etcd is not healthy/,
  )
  assert.deepEqual(most.restarts.slice(3), [third, third])
  most.stuck.delete(third)
  world.machine(third).hasHealthyMember = true
  retryFailed(scene)
  await scene.settle()
  assert.equal(story.status.phase, 'Ready')
  assert.deepEqual(most.restarts.slice(5).toSorted(), masters)
  assert.equal(most.missing(), 1)
})

interface Restarts {
  readonly restarts: string[]
  /** The machines that stay unhealthy when they are started. */
  readonly stuck: Set<string>
  /** The most members that were missing at once. */
  readonly missing: () => number
}

/** Notes the starts of sites, of which each member is healthy again a moment later. */
function watchRestarts({ world, clock }: EdgeScene): Restarts {
  const restarts: string[] = []
  const stuck = new Set<string>()
  let missing = 0
  for (const address of masters) {
    const machine = world.machine(address)
    const push = machine.commands.push.bind(machine.commands)
    machine.commands.push = (...commands) => {
      for (const command of commands) {
        if (command.join(' ') !== 'systemctl restart skerry-site') continue
        restarts.push(address)
        machine.hasHealthyMember = false
        clock.setTimer(3_000, () => void (machine.hasHealthyMember = !stuck.has(address)))
        const away = masters.filter((each) => !world.machine(each).hasHealthyMember)
        missing = Math.max(missing, away.length)
      }
      return push(...commands)
    }
  }
  return { restarts, stuck, missing: () => missing }
}
