import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { test } from 'node:test'
import { AuthorityAgents } from './authority-agents.ts'

const notPem = 'the bundle is not PEM'
const bundle = (name: string): string =>
  Buffer.from(`-----BEGIN CERTIFICATE-----\n${name}\n`).toString('base64')

test('webhooks of one authority share an agent, and others trust their own', () => {
  const agents = new AuthorityAgents({ agentsMax: 10, notPem })
  const made: (string | undefined)[] = []
  const create = ({ ca }: { ca?: string }): Agent => {
    made.push(ca)
    return new Agent()
  }
  const a = agents.of({ caBundle: bundle('a') }, create)
  assert.equal(agents.of({ caBundle: bundle('a') }, create), a)
  assert.notEqual(agents.of({ caBundle: bundle('a'), place: 'b.example:443' }, create), a)
  agents.of({ caBundle: bundle('b') }, create)
  assert.equal(agents.of({}, create), agents.of({ caBundle: '' }, create))
  assert.deepEqual(
    made.map((ca) => ca?.split('\n')[1]),
    ['a', 'a', 'b', undefined],
  )
})

test('the agent that was used longest ago closes its connections when there are too many', () => {
  const agents = new AuthorityAgents({ agentsMax: 2, notPem })
  const closed: string[] = []
  const ask = (name: string): Agent =>
    agents.of({ caBundle: bundle(name) }, () => {
      const agent = new Agent()
      agent.destroy = () => void closed.push(name)
      return agent
    })
  for (const name of ['a', 'b', 'a', 'c']) ask(name)
  assert.deepEqual(closed, ['b'])
})

test('a bundle that is not PEM is refused, and is not kept', () => {
  const agents = new AuthorityAgents({ agentsMax: 2, notPem })
  const ask = (): Agent => agents.of({ caBundle: 'bm8gcGVt' }, () => new Agent())
  assert.throws(ask, new Error(notPem))
  assert.throws(ask, new Error(notPem))
})
