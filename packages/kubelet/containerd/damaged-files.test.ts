/** A node starts whatever is left of its containerd's files, or names in one line the file that prevents it. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { silentLogger, systemClock } from '@skerry/base'
import { fileDamages, refusalProblem } from '@skerry/testing'
import { pauseImage } from '../images/pause-image.ts'
import { prepareHost, runOnRealNode } from '../testing/real-node.ts'
import {
  superviseContainerd,
  type ContainerdOptions,
  type SupervisedContainerd,
} from './supervise-containerd.ts'

await runOnRealNode(import.meta.url, 'damaged files of a real containerd', testInNamespaces)

function testInNamespaces(): void {
  const signal = AbortSignal.timeout(240_000)
  let options: ContainerdOptions
  let running: SupervisedContainerd
  const start = (): Promise<SupervisedContainerd> =>
    superviseContainerd(options, { clock: systemClock, log: silentLogger }, signal)

  before(async () => {
    prepareHost()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-containerd-'))
    options = {
      dataDirectory: join(directory, 'containerd'),
      runDirectory: '/run/skerry/containerd',
      cniConfDirectory: join(directory, 'cni'),
      cniBinDirectory: '/usr/lib/cni',
      registryDirectory: join(directory, 'registries'),
      sandboxImage: pauseImage,
      snapshotter: 'native',
    }
    running = await start()
  })
  after(async () => {
    await running.stop()
    await rm(join(options.dataDirectory, '..'), { recursive: true })
  })

  /** Damages the file, starts next to the running containerd, and restores a file after a refused directory. */
  async function eachDamage(path: string): Promise<Record<string, string>> {
    const results: Record<string, string> = {}
    const whole = await readFile(path, 'utf8')
    for (const [damage, inflict] of Object.entries(fileDamages)) {
      await inflict(path)
      try {
        running = await start()
        const isWhole = (await readFile(path, 'utf8')) === whole
        results[damage] =
          `${running.isAdopted ? 'kept' : 'started again'}, ${isWhole ? 'whole' : 'another file'}`
      } catch (error) {
        results[damage] = refusalProblem(error, { isRefused: true, path }) ?? 'refused'
        await rm(path, { recursive: true })
        running = await start()
      }
    }
    return results
  }

  test('a containerd whose pid file is damaged is known again, and goes on', async () => {
    assert.deepEqual(await eachDamage(join(options.runDirectory, 'containerd.pid')), {
      empty: 'kept, whole',
      cut: 'kept, whole',
      garbage: 'kept, whole',
      missing: 'kept, whole',
      'a directory': 'refused',
    })
  })

  test('a damaged configuration is written again, and containerd starts again with it', async () => {
    assert.deepEqual(await eachDamage(join(options.dataDirectory, 'config.toml')), {
      empty: 'started again, whole',
      cut: 'started again, whole',
      garbage: 'started again, whole',
      missing: 'started again, whole',
      'a directory': 'refused',
    })
  })
}
