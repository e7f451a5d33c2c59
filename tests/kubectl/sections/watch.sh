# Watches, each with a change in its background and an end.

body() {
    quiet apply -f configmaps.yaml -f web-service.yaml
    shows "a list, then changes"
    watch_start get configmaps -l part=settings -w --output-watch-events
    quiet label configmap settings step=one
    quiet create configmap added --from-literal=a=1
    quiet label configmap added part=settings
    quiet label configmap added part-
    quiet label configmap added part=settings
    quiet delete configmap added extras
    watch_stop 'DELETED +extras'

    shows "wide rows change"
    watch_start get services web -w -o wide
    quiet patch service web -p '{"spec":{"selector":{"tier":"front"}}}'
    quiet patch service web -p '{"spec":{"ports":[{"name":"https","port":443,"targetPort":8443}]}}'
    watch_stop '443/TCP'

    shows "whole objects"
    watch_start get configmap settings -w -o 'jsonpath={.data.colour}{"\n"}'
    quiet patch configmap settings -p '{"data":{"colour":"red"}}'
    quiet patch configmap settings -p '{"data":{"colour":"black"}}'
    watch_stop black

    shows "only changes from now on"
    watch_start get configmaps --watch-only --output-watch-events -o custom-columns=TYPE:.type,NAME:.object.metadata.name
    # There is nothing to see until the watch stands, so a change is made until it is seen.
    settle "the watch" nudged
    quiet create configmap later --from-literal=a=1
    quiet delete configmap later
    watch_stop 'DELETED +later'

    shows "two kinds cannot be watched together"
    k get configmaps,services -w
    shows "an object by name goes away"
    watch_start get configmap settings -w --output-watch-events -o custom-columns=TYPE:.type,NAME:.object.metadata.name,COLOUR:.object.data.colour
    quiet patch configmap settings -p '{"data":{"colour":"white"}}'
    quiet delete configmap settings
    watch_stop 'DELETED'
}

nudged() {
    client annotate configmap settings --overwrite "nudge=$RANDOM$RANDOM" >/dev/null
    sleep 0.3
    [ -s "$work/watch" ]
}
