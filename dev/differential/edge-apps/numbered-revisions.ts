import type { Checkpoint } from '../controllers/play-story.ts'

const revisionLabel = /"apps\.openyurt\.io\/controller-revision-hash":"([^"]+)"/g

/**
 * Numbers the revisions of applications in the order in which they appear. A number means the same in two plays, whose
 * hashes differ.
 */
export function withNumberedRevisions(checkpoints: readonly Checkpoint[]): Checkpoint[] {
  let text = JSON.stringify(checkpoints)
  const names = new Set([...text.matchAll(revisionLabel)].map(([, name = '']) => name))
  for (const [at, name] of [...names].entries()) {
    const hash = name.slice(name.lastIndexOf('-') + 1)
    text = text.replaceAll(hash, `<revision ${at + 1}>`)
  }
  // Hashes are letters and digits, so that the text is still that of checkpoints.
  return JSON.parse(text) as Checkpoint[]
}
