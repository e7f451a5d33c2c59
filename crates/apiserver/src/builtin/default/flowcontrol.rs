//! How requests to the API server queue up.

use model::Map;

use super::Fields;

pub(super) fn flow_schema(object: &mut Map) {
    object.within("spec", |spec| spec.fill("matchingPrecedence", 1000));
}

pub(super) fn priority_level(object: &mut Map) {
    object.within("spec", |spec| {
        spec.within("exempt", |exempt| {
            exempt.default("nominalConcurrencyShares", 0);
            exempt.default("lendablePercent", 0);
        });
        spec.within("limited", |limited| {
            limited.default("nominalConcurrencyShares", 30);
            limited.default("lendablePercent", 0);
            limited.within("limitResponse", |response| {
                response.within("queuing", |queuing| {
                    queuing.fill("handSize", 8);
                    queuing.fill("queues", 64);
                    queuing.fill("queueLengthLimit", 50);
                });
            });
        });
    });
}
