/**
 * neighbours: the nodes of a group watch each other. Each asks a few others, tells them and its control plane whom it sees
 * and whom it misses, and a majority of the voters decides that a node is dead. One node's word never does. It knows
 * nothing of pods and services, and changes no object of the API.
 * Start reading at verdict.ts (how votes are counted), then neighbours.ts (a node's part).
 */
export { createNeighbourAsker, neighboursPath, type NeighbourAsker } from './ask-neighbour.ts'
export { groupsBy, neighboursOf, type Neighbour } from './group.ts'
export { peerNode } from './neighbour-identity.ts'
export { Neighbours } from './neighbours.ts'
export { createRing } from './ring.ts'
export { deadAmong, type Verdict } from './verdict.ts'
export { answerText, parseWord, wordAnnotation, wordText, type Word } from './word.ts'
