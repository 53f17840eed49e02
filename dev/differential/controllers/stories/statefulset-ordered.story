# One after the other, each when the one before is ready; down from the last.

### the first
create
  kind: StatefulSet
  metadata: {name: web, labels: {team: edge}}
  spec:
    replicas: 3
    serviceName: web
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: main, image: "a:1"}]}

### the second
run 1

### all
run 1
run 1

### one
patch statefulsets/web/scale {spec: {replicas: 1}}

### three again, and one is deleted
patch statefulsets/web/scale {spec: {replicas: 3}}
evolve
delete pods/web-1
