#include <stdio.h>
    extern void __VERIFIER_error(int);

	// inputs
	int inputs[] = {1,2};

	void errorCheck();
	void calculate_output(int);

	 int cf = 1;
	 int a12  = 32;
	 int a7 = 130;
	 int a3 = 7;

	void errorCheck() {

	}

 void calculate_output(int input) {
        cf = 1;

    if((((input == inputs[0]) && (a12 == 32)) &&  cf==1 )) {
    	cf = 0;
    	a12 = 33 ;
    	a7 = ((((a7 * a3) % 14999) % 38) + 132);
    	 printf("%d\n", 24); fflush(stdout); 
    } 
    if(((((93 < a7) && (170 >= a7)) && ((input == 2) && a12 == 33)) &&  cf==1 )) {
    	cf = 0;
    	a12 = 32 ;
    	a3 = ((a3 + 5) % 41);
    	 printf("%d\n", 25); fflush(stdout); 
    } 
    if((((input == 1) && (a12 == 33 && a7 <=  93)) &&  cf==1 )) {
    	cf = 0;
    	a12 = 34 ;
    	 printf("%d\n", 26); fflush(stdout); 
    } 
    if((((input == inputs[1]) && a12 == 32) &&  cf==1 )) {
    	cf = 0;
    	a12 = 34 ;
    	a7 = -20;
    	 printf("%d\n", 26); fflush(stdout); 
    } 
    if((((input == inputs[0]) && (a12 == 34 && a7 <=  93)) &&  cf==1 )) {
    	cf = 0;

    	 printf("%d\n", 25); fflush(stdout); 
    } 
    errorCheck();

    if( cf==1 )
    	fprintf(stderr, "Invalid input: %d\n", input);
}

int main()
{
    // main i/o-loop
    while(1)
    {
        int input;
        scanf("%d", &input);
        if((input != 1) && (input != 2))
          return -2;
        calculate_output(input);
    }
}
