import { globSync, readFileSync, existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Sight } from './run-story.ts'
import { parseStory, type Story } from './story.ts'

const root = import.meta.dirname

/** Reads every story, or those whose name contains one of the given parts. */
export function readStories(parts: readonly string[] = []): Story[] {
  return globSync('*.yaml', { cwd: join(root, 'stories') })
    .map((file) => basename(file, '.yaml'))
    .toSorted()
    .filter((name) => parts.length === 0 || parts.some((part) => name.includes(part)))
    .map((name) => parseStory(name, readFileSync(join(root, 'stories', `${name}.yaml`), 'utf8')))
}

export function goldenPath(story: string): string {
  return join(root, 'golden', `${story}.golden`)
}

/** Reads the recorded actions of upstream's scheduler. */
export function readGolden(story: string): Sight[] {
  const path = goldenPath(story)
  if (!existsSync(path))
    throw new Error(
      `Cannot replay ${story}: record it first (node_modules/.bin/node dev/hack/scheduler.ts record)`,
    )
  const [, ...sections] = readFileSync(path, 'utf8').split(/^### /m)
  return sections.map((section) => {
    const [title = '', ...lines] = section.trimEnd().split('\n')
    return { title, text: lines.join('\n') }
  })
}

export function formatGolden(sights: readonly Sight[]): string {
  return sights.map(({ title, text }) => `### ${title}\n${text}\n`).join('\n')
}
