import assert from 'node:assert/strict'
import type { RoleProcess } from '../../e2e/role-process.ts'
import type { Hall } from './hall.ts'

/** Each story begins and ends with a unit that its parent has. */
export const unitStories: Readonly<Record<string, (hall: Hall) => Promise<void>>> = {
  quiet: playQuiet,
  cuts: playCuts,
  minds: playMinds,
  dead: playDead,
  lost: playLost,
  three: playThree,
  'three-cuts': playThreeCuts,
  'three-minds': playThreeMinds,
  'master-lost': playMasterLost,
}

/** Those of a hall whose site has three masters. */
export const mastersStories: typeof unitStories = { masters: playMasters }

const rollout = ['rollout', 'status', '-n', 'guestbook', 'deployment/web', '--timeout=90s']

function scaled(replicas: number): string[] {
  return ['scale', '-n', 'guestbook', 'deployment/web', `--replicas=${replicas}`]
}

async function playQuiet(hall: Hall): Promise<void> {
  await goAway(hall)
  assert.match(await hall.status('version'), /^1\.\d+\.\d+\+skerry/)
  assert.equal(await hall.status('addresses[0].host'), hall.server.host.address)
  const refused = await hall.cluster.tryKubectl(scaled(5))
  assert.match(refused.stderr, /unit hall has it as a cluster of its own; change it there/)
  await hall.untilShown({ isReady: true })
  await hall.atUnit(...scaled(4))
  await hall.atUnit(...rollout)
  await hall.requireVisit()
  await comeBack(hall)
  await hall.untilShown({ isReady: false })
  await hall.cluster.kubectl(...scaled(6))
  await hall.cluster.kubectl(...rollout)
}

/** Kills each process while the unit is on its way, in both directions. */
async function playCuts(hall: Hall): Promise<void> {
  const { cluster, server, follower } = hall
  await hall.setLevel('L4')
  await hall.untilPhase('Initializing', 'Running')
  for (const role of [server.role, cluster.site, follower.role]) await restart(role)
  await hall.untilPhase('Running')
  await hall.untilNodes('unit')
  await restart(server.role)
  await hall.until('the unit to serve again', async () => {
    return (await hall.atUnit('get', '--raw', '/readyz')) === 'ok'
  })
  await hall.setLevel('L3')
  await hall.untilPhase('Terminating', '')
  for (const role of [server.role, cluster.site, follower.role]) await restart(role)
  await comeBack(hall)
}

/** Changes the level again before the unit has got there. */
async function playMinds(hall: Hall): Promise<void> {
  await hall.setLevel('L4')
  await hall.untilPhase('Initializing', 'Running')
  await hall.setLevel('L3')
  await hall.setLevel('L4')
  await hall.untilPhase('Running')
  await hall.untilNodes('unit')
  await hall.setLevel('L3')
  await hall.untilPhase('Terminating', '')
  await goAway(hall)
  await comeBack(hall)
}

/** A node is dead from the beginning of the change to its end. */
async function playDead(hall: Hall): Promise<void> {
  const { follower } = hall
  await hall.setLevel('L4')
  await hall.untilPhase('Initializing', 'Running')
  await follower.role.kill()
  await hall.untilPhase('Running')
  await hall.requireVisit()
  await follower.role.start()
  await hall.untilNodes('unit')
  await follower.role.kill()
  await hall.setLevel('L3')
  await hall.untilPhase('')
  await follower.role.start()
  await hall.untilNodes('parent')
}

/** A person gives the server of the unit up, which comes back later. */
async function playLost(hall: Hall): Promise<void> {
  const { cluster, server } = hall
  await goAway(hall)
  await server.role.kill()
  await hall.setLevel('L3')
  await hall.untilPhase('Terminating')
  const message = await hall.status('conditions[0].message')
  const [mark = ''] = /edge\.skerry\.io\/lost-generation=\d+/.exec(message) ?? []
  assert.notEqual(mark, '', message)
  await cluster.kubectl('annotate', 'nodeunit', 'hall', mark)
  await hall.untilPhase('')
  await server.role.start()
  await hall.untilNodes('parent')
}

async function restart(role: RoleProcess): Promise<void> {
  await role.kill()
  await role.start()
}

async function goAway(hall: Hall, level = 'L4'): Promise<void> {
  await hall.setLevel(level)
  await hall.untilPhase('Running')
  await hall.untilNodes('unit')
}

async function comeBack(hall: Hall): Promise<void> {
  await hall.setLevel('L3')
  await hall.untilPhase('')
  await hall.untilNodes('parent')
}

/** The unit gets three servers, from L3 and from L4, and gives them up again. */
async function playThree(hall: Hall): Promise<void> {
  await goAway(hall, 'L5')
  await hall.untilServers(3)
  await hall.untilShown({ isReady: true })
  for (const node of hall.nodes)
    assert.equal(await hall.atServer(node, 'get', '--raw', '/readyz'), 'ok')
  await hall.atServer(hall.follower, ...scaled(7))
  await hall.atServer(hall.third, ...rollout)
  await hall.requireVisit()
  await hall.setLevel('L4')
  await hall.untilServers(1)
  await hall.untilOneServer()
  await hall.atUnit(...scaled(8))
  await hall.atUnit(...rollout)
  await hall.setLevel('L5')
  await hall.untilServers(3)
  await hall.requireVisit()
  await comeBack(hall)
  await hall.untilOneServer()
  await hall.cluster.kubectl(...scaled(9))
  await hall.cluster.kubectl(...rollout)
}

/** Kills each process while the unit gets its servers, while it has them, and while it gives them up. */
async function playThreeCuts(hall: Hall): Promise<void> {
  const { cluster, server, follower, third } = hall
  await hall.setLevel('L5')
  await hall.untilPhase('Running')
  for (const role of [server.role, third.role, cluster.site, follower.role]) await restart(role)
  await hall.untilServers(3)
  await hall.untilNodes('unit')
  await restart(server.role)
  await hall.untilServers(3)
  await hall.setLevel('L4')
  for (const role of [follower.role, server.role, third.role]) await restart(role)
  await hall.untilServers(1)
  await hall.untilOneServer()
  await hall.setLevel('L5')
  await hall.untilServers(3)
  await hall.setLevel('L3')
  await hall.untilPhase('Terminating', '')
  for (const role of [server.role, cluster.site, follower.role]) await restart(role)
  await comeBack(hall)
  await hall.untilOneServer()
}

/** Changes the level again before the unit has got there. */
async function playThreeMinds(hall: Hall): Promise<void> {
  await hall.setLevel('L5')
  await hall.untilPhase('Running')
  await hall.setLevel('L4')
  await hall.setLevel('L5')
  await hall.untilServers(3)
  await hall.setLevel('L3')
  await hall.untilPhase('Terminating', '')
  await goAway(hall, 'L5')
  await hall.untilServers(3)
  await comeBack(hall)
  await hall.untilOneServer()
}

/** The first of three servers is dead: the unit goes on, and comes back by another one. */
async function playMasterLost(hall: Hall): Promise<void> {
  const { server, follower, third } = hall
  await goAway(hall, 'L5')
  await hall.untilServers(3)
  await server.role.kill()
  await hall.until('the others to go on', async () => {
    return (await hall.atServer(follower, 'get', '--raw', '/readyz')) === 'ok'
  })
  await hall.atServer(third, 'annotate', '-n', 'guestbook', 'deployment/web', 'seen=there')
  await hall.until('the status to name the silent server', async () =>
    (await hall.status('conditions[0].message')).includes(`serve, not ${server.name}`),
  )
  await hall.setLevel('L3')
  await hall.untilPhase('')
  const path = 'jsonpath={.metadata.annotations.seen}'
  const seen = await hall.cluster.kubectl('get', '-n', 'guestbook', 'deployment/web', '-o', path)
  assert.equal(seen, 'there', 'what was written without the first server')
  await server.role.start()
  await hall.untilNodes('parent')
  await hall.untilOneServer()
}

/** A master of the parent dies while the unit goes, and another one while it comes back. */
async function playMasters(hall: Hall): Promise<void> {
  const [first, second] = hall.masters
  assert.ok(first && second)
  await hall.setLevel('L4')
  await hall.untilPhase('Initializing', 'Running')
  await first.role.kill()
  await hall.untilNodes('unit')
  await hall.requireVisit()
  await first.role.start()
  await hall.untilPhase('Running')
  for (const master of hall.masters) {
    const refused = await hall.tryAt(master, ...scaled(5))
    assert.match(refused.stderr, /unit hall has it as a cluster of its own/, master.name)
  }
  await hall.atUnit(...scaled(4))
  await hall.setLevel('L3')
  await hall.untilPhase('Terminating', '')
  await second.role.kill()
  await comeBack(hall)
  await second.role.start()
  await hall.cluster.kubectl(...scaled(6))
  await hall.cluster.kubectl(...rollout)
}
