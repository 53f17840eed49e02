/** A query or path parameter that the API's operations take. */
export interface Parameter {
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

function query(type: Parameter['type'], description: string): Parameter {
  return { in: 'query', type, description }
}

export const parameters: Readonly<Record<string, Parameter>> = Object.freeze({
  name: { in: 'path', type: 'string', description: 'Name of the object.' },
  namespace: { in: 'path', type: 'string', description: 'Namespace of the object.' },
  pretty: query('string', 'Indent the answer.'),
  allowWatchBookmarks: query('boolean', 'Ask for BOOKMARK events in a watch.'),
  continue: query('string', 'Token of the next page of a list.'),
  fieldSelector: query('string', 'Only objects whose fields match.'),
  labelSelector: query('string', 'Only objects whose labels match.'),
  limit: query('integer', 'The most objects that one page may hold.'),
  resourceVersion: query('string', 'The version of the data that is asked for.'),
  resourceVersionMatch: query('string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  sendInitialEvents: query('boolean', 'Begin a watch with the existing objects.'),
  shardSelector: query('string', 'Only objects of a part of all; of no effect here.'),
  timeoutSeconds: query('integer', 'How long a list or watch may last.'),
  watch: query('boolean', 'Follow changes instead of listing once.'),
  dryRun: query('string', 'All: check everything, store nothing.'),
  fieldManager: query('string', 'The name to record as the owner of the fields.'),
  fieldValidation: query('string', 'The treatment of unknown fields: Ignore, Warn or Strict.'),
  force: query('boolean', 'Take over fields that other managers own; for apply only.'),
  gracePeriodSeconds: query('integer', 'Time for the object to end by itself; 0: at once.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: query(
    'boolean',
    'Remove the object even if its stored data cannot be read.',
  ),
  orphanDependents: query('boolean', 'Older form of propagationPolicy.'),
  propagationPolicy: query('string', 'Dependents: Orphan, Background or Foreground.'),
})
