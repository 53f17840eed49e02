import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { until } from '@skerry/testing'
import { ModelRun } from './testing/model/model-run.ts'
import { ModelWatch } from './testing/model/model-watch.ts'
import { openTestServer } from './testing/open-test-server.ts'

const seeds = [1, 2, 3, 4, 5, 6]
const lives = 3
const stepsOfLife = 120

for (const seed of seeds) {
  test(`each answer and each watch is that of a small model, over restarts (seed ${seed})`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'etcd-model-'))
    const run = new ModelRun(seededRandom(seed))
    const watches: ModelWatch[] = []
    try {
      for (let life = 0; life < lives; life += 1) {
        await using server = await openTestServer({ path: join(directory, 'etcd.db') })
        for (const watch of watches) watch.follow(server.client)
        for (let at = 0; at < stepsOfLife; at += 1) {
          await run.step(server.client)
          if (run.below(30) > 0) continue
          const watch = opened(run)
          watch.follow(server.client)
          watches.push(watch)
        }
        for (const watch of watches) {
          await watch.assertSame(run.model, (check) => until(async () => check() || undefined))
        }
      }
    } finally {
      await rm(directory, { recursive: true })
    }
  })
}

function opened(run: ModelRun): ModelWatch {
  const { from, until: end } = run.ends()
  const start = Math.max(1, run.model.revision + 1 - run.below(20))
  return new ModelWatch({ from, until: end, start })
}
