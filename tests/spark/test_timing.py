import time
from tests.spark.oracle import *
from tests.spark.test_predicates import df
def test_timing(spark, df):
    out=open("/tmp/sem/timing.txt","w")
    t=[time.time()]
    def lap(n):
        out.write(f"{n} {time.time()-t[0]:.1f}\n"); out.flush(); t[0]=time.time()
    numbers = ", ".join(str(3 * i + 1) for i in range(20_000))
    rules = {"numbers": f"a IN ({numbers}, 5)"}
    rs=rule_set("in_20k", rules); lap("rule_set")
    rs.publish(spark); lap("publish")
    import sparkrules
    n=subscriptions_in_plan(sparkrules.match(df, rs).select("matches.ids")); lap("bind")
    pairs_by_plugin(df, rs); lap("plugin")
    pairs_by_where(df, rules); lap("where")
