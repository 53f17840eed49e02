import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waveKeys, wavesOf } from '@skerry/karmada-kinds'
import { heldSites, planWaves, type WaveSite } from './plan-waves.ts'

/**
 * Parses a site: `a` is current and healthy, `a-` not yet current, `a!` current and unhealthy, `a?`
 * unreachable.
 */
function site(text: string): WaveSite {
  const name = text.replace(/[-!?]$/, '')
  return {
    name,
    labels: name.startsWith('p') ? { stage: 'pilot' } : {},
    isPresent: !text.endsWith('?'),
    isCurrent: !text.endsWith('-') && !text.endsWith('?'),
    isWell: !text.endsWith('!'),
  }
}

function policy(text: string, percent?: string) {
  const annotations = {
    [waveKeys.waves]: text,
    ...(percent === undefined ? {} : { [waveKeys.healthyPercent]: percent }),
  }
  return { apiVersion: 'v1', kind: 'P', metadata: { name: 'web', annotations } }
}

function plan(text: string, sites: string, percent?: string) {
  const waves = wavesOf(policy(text, percent))
  assert.ok(waves)
  return planWaves(waves, sites.split(' ').map(site))
}

test('each cluster is in the first wave that selects it; shares count the earlier ones', () => {
  const names = (text: string, sites: string) =>
    plan(text, sites).map(({ name, sites: found }) => [name, found.map((each) => each.name).join()])
  assert.deepEqual(names('stage=pilot; 40%; 80%', 'd c p1 b a p2 e f g h'), [
    ['stage=pilot', 'p1,p2'],
    ['40%', 'a,b'],
    ['80%', 'c,d,e,f'],
    ['rest', 'g,h'],
  ])
  assert.deepEqual(names('stage in (pilot, none); 10%', 'p1 a b'), [
    ['stage in (pilot, none)', 'p1'],
    ['10%', ''],
    ['rest', 'a,b'],
  ])
})

test('the next wave opens when enough of the present clusters are well', () => {
  const held = (sites: string, percent?: string) =>
    [...heldSites(plan('stage=pilot; 60%', sites, percent)).keys()].join()
  assert.equal(held('p1- p2- a- b- c-'), 'a,b,c')
  assert.equal(held('p1 p2- a- b- c-'), 'a,b,c')
  assert.equal(held('p1 p2! a- b- c-'), 'a,b,c')
  assert.equal(held('p1 p2 a- b- c-'), 'b,c')
  assert.equal(held('p1 p2 a b- c-'), '')
  assert.equal(held('p1 p2! a- b- c-', '50'), 'b,c')
})

test('an absent cluster holds up nobody, and comes back to the newest version of an open wave', () => {
  const held = (sites: string) => [...heldSites(plan('stage=pilot', sites)).keys()].join()
  assert.equal(held('p1 p2? a-'), '')
  assert.equal(held('p1? p2? a-'), '')
  assert.equal(held('p1- p2? a?'), 'a')
})

test('unreadable waves are reported, with the mistake', () => {
  const problem = (text: string, percent?: string) => {
    try {
      wavesOf(policy(text, percent))
      return ''
    } catch (error) {
      return error instanceof RangeError ? error.message : String(error)
    }
  }
  assert.match(problem('stage=pilot;;10%'), /a wave is empty/)
  assert.match(problem('0%'), /"0" is not a number from 1 to 100/)
  assert.match(problem('10%', '101'), /wave-healthy-percent: "101" is not a number/)
  assert.match(problem('a in b'), /Cannot read annotation hub\.skerry\.io\/waves/)
  assert.match(problem(Array.from({ length: 40 }, () => '1%').join(';')), /more than 32 waves/)
  assert.equal(wavesOf(policy(' ')), undefined)
})
