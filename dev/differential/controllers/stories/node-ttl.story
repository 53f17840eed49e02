# How long a node may keep what it has read.
Show: nodes, events

### a node
create
  kind: Node
  metadata: {name: ttl-a, labels: {story: ttl}}

### somebody changes the answer
patch nodes/ttl-a {metadata: {annotations: {node.alpha.kubernetes.io/ttl: "7"}}}
