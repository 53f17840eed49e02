/** The times and bounds by which nodes watch each other, by the file that keeps them. */
export const neighbourBounds = Object.freeze({
  ring: Object.freeze({
    /** The neighbours that each node asks. In a group of at most one more, each node asks all others. */
    askedMax: 8,
  }),
  word: Object.freeze({
    /** More than a node has neighbours to ask. */
    namesMax: 32,
    /** Names of nodes have at most 253 characters. */
    charactersMax: 20_000,
  }),
  verdict: Object.freeze({
    /** One node's word never declares another one dead. */
    missedMin: 2,
  }),
  neighbours: Object.freeze({
    /** The interval at which a node asks its neighbours. */
    periodMs: 4_000,
    /** Each interval is longer or shorter by up to this share, so that nodes that started together drift apart. */
    jitterShare: 0.2,
    answerMs: 2_000,
    /** The questions in a row without an answer after which a neighbour counts as missed. */
    missesMin: 3,
    /** A word that was heard counts for this long. */
    wordMs: 20_000,
    /** The doubtful nodes of a large group whose voters are asked in one round. */
    doubtedMax: 4,
    /** The nodes that one answer names as doubtful. */
    namedMax: 16,
  }),
  askNeighbour: Object.freeze({
    answerBytesMax: 32 * 1024,
    connectionsMax: 64,
  }),
  group: Object.freeze({
    /** Further nodes of a group are left out, in the order of their names. */
    membersMax: 5_000,
  }),
})
